package fingerprint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"mara/projects/gomodule"

	"gopkg.in/yaml.v3"
)

// Source is where the program of a user's project comes from.
type Source struct {
	Dir     string // of its Pulumi.yaml
	Runtime string
	Root    string   // of the repository, below which the program may find more
	Outside []string // folders below the root that hold no part of a program
}

// errOthers is the error for programs that are built with sources from anywhere.
var errOthers = errors.New("the program is built with sources that are neither below its folder nor pinned")

// sum is what the program is made of. One in Pulumi YAML is its folder, and what
// it names; one in Go is its module. What others are made of nobody knows without
// asking their language: everything in the repository counts.
func (s Source) sum() ([]byte, error) {
	var text bytes.Buffer
	add := func(folder string) error { return addTree(&text, folder, s.isOutside) }
	if err := add(s.Dir); err != nil {
		return nil, err
	}
	if err := s.addNamed(&text); err != nil {
		return nil, err
	}
	var err error
	switch s.Runtime {
	case "yaml":
		return text.Bytes(), nil
	case "go":
		module := gomodule.Of(s.Dir)
		if gomodule.UsesOthers(module) {
			return nil, errOthers
		}
		err = add(module)
	default:
		err = add(s.Root)
	}
	return text.Bytes(), err
}

// isOutside leaves out hidden folders and those that are named.
func (s Source) isOutside(path string) bool {
	return slices.Contains(s.Outside, path) || isHidden(path)
}

// variables are those by which YAML names folders.
var variables = regexp.MustCompile(`\$\{pulumi\.(cwd|rootDirectory|root)\}`)

// addNamed adds the files that the YAML files of the project name, such as a
// program elsewhere, or assets.
func (s Source) addNamed(text *bytes.Buffer) error {
	files, err := filepath.Glob(filepath.Join(s.Dir, "*.yaml"))
	if err != nil {
		return err
	}
	here := Basis{Root: s.Dir}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var document any
		if err := yaml.Unmarshal(variables.ReplaceAll(content, []byte(s.Dir)), &document); err != nil {
			continue // no YAML that Pulumi could read
		}
		for _, path := range slices.Sorted(here.paths(document)) { // a map has no order
			if isBelow(path, s.Dir) && s.Runtime == "yaml" {
				continue // it has been added
			}
			if err := addTree(text, path, s.isOutside); err != nil {
				return err
			}
		}
	}
	return nil
}

func isBelow(path, folder string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}
