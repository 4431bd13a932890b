package fingerprint

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config/files"
	"mara/projects/model/gomodule"
)

// Source is where the program of a user's project comes from.
type Source struct {
	Dir     string // of its Pulumi.yaml
	Runtime string
	Root    string   // of the repository, below which the program may find more
	Outside []string // directories and files below the root that are no part of a program
	Inputs  []string // what the program consists of besides Dir, as patterns below Root; nil if that is not declared

}

// errOthers is the error for programs that are built with sources from anywhere.
var errOthers = errors.New("the program is built with sources that are neither below its directory nor pinned")

// addAll adds what the program is made of. A program in Pulumi YAML is its directory, and what it names; one in Go
// is its module, or the repository if it may read files outside of that. The files of other
// programs are unknown without asking their language: everything in the
// repository counts.
func (s Source) addAll(t *tree) error {
	if err := t.add(s.Dir, s.isOutside); err != nil {
		return err
	}
	if err := s.addNamed(t); err != nil {
		return err
	}
	if s.Inputs != nil {
		return s.addInputs(t)
	}
	switch s.Runtime {
	case "yaml":
		return nil
	case "go":
		return s.addModule(t)
	default:
		return t.add(s.Root, s.isOutside)
	}
}

// addInputs adds the declared inputs. A pattern without a file is an error: it may be misspelled.
func (s Source) addInputs(t *tree) error {
	for _, pattern := range s.Inputs {
		paths, err := files.Glob(s.Root, pattern)
		if err != nil {
			return fmt.Errorf("inputs: %s: %w", pattern, err)
		}
		if len(paths) == 0 {
			return fmt.Errorf("inputs: there is no %s", pattern)
		}
		for _, path := range paths {
			if err := t.add(path, s.isOutside); err != nil {
				return err
			}
		}
	}
	return nil
}

// isOutside reports whether a directory or a file is no part of the program: paths
// that are named, and directories of tools.
func (s Source) isOutside(path string) bool {
	name := filepath.Base(path)
	return slices.Contains(s.Outside, path) || slices.Contains(toolDirs, name)
}

// toolDirs are directories in which package managers have installed what their lock
// files name, and hidden ones that tools write. Other hidden ones may hold templates
// that a program reads.
var toolDirs = []string{
	".cache", ".direnv", ".eggs", ".git", ".gradle", ".hg", ".idea", ".ipynb_checkpoints", ".mypy_cache", ".next",
	".nox", ".npm", ".nuget", ".nyc_output", ".pnpm-store", ".pulumi", ".pytest_cache", ".ruff_cache", ".runner",
	".svn", ".terraform", ".tox", ".venv", ".vs", ".vscode", ".yarn", "__pycache__", "node_modules",
}

// addModule adds the module of a Go program, and all of the repository if
// something in it may read files elsewhere.
func (s Source) addModule(t *tree) error {
	module := gomodule.Of(s.mainDir())
	if gomodule.UsesOthers(module) {
		return errOthers
	}
	if err := t.add(module, s.isOutside); err != nil {
		return err
	}
	leaves, err := s.leavesModule(module)
	if err != nil || !leaves {
		return err
	}
	return t.add(s.Root, s.isOutside)
}

// elsewhere are the words in Go programs that find files outside of their module.
var elsewhere = [][]byte{
	[]byte(`"..`), []byte(`/..`), []byte("`.."), []byte("runtime.Caller"), []byte("os.Getwd"),
	[]byte("os.Executable"), []byte("filepath.Abs"), []byte("rev-parse"),
}

func (s Source) leavesModule(module string) (leaves bool, err error) {
	err = filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != module && (s.isOutside(path) || entry.Name() == "vendor"):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := files.Read(path, files.Text)
		if err == nil && slices.ContainsFunc(elsewhere, func(word []byte) bool { return bytes.Contains(content, word) }) {
			leaves = true
			return fs.SkipAll
		}
		return err
	})
	return leaves, err
}

// mainDir returns the directory that `main` of Pulumi.yaml names, in which the
// program runs; that of Pulumi.yaml itself where there is none.
func (s Source) mainDir() string {
	content, _ := files.Read(filepath.Join(s.Dir, "Pulumi.yaml"), files.Text)
	var file struct {
		Main string `yaml:"main"`
	}
	if yaml.Unmarshal(content, &file) != nil || file.Main == "" {
		return s.Dir
	}
	dir := file.Main
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.Dir, dir)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	return dir
}
