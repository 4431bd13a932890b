package fingerprint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config/files"
)

// errComputed is the error for YAML programs that compute the path of a file.
var errComputed = errors.New("the program computes the path of a file that it reads")

// addNamed adds the files that the YAML files of the project name, such as a
// program elsewhere, assets or components.
func (s Source) addNamed(t *tree) error {
	n := &namer{source: s, tree: t, main: s.mainDir(), dirs: []string{s.Dir}}
	if _, err := os.Stat(n.main); err == nil && n.main != s.Dir {
		n.dirs = append(n.dirs, n.main)
		if err := t.add(n.main, s.isOutside); err != nil {
			return err
		}
	}
	for i := 0; i < len(n.dirs); i++ { // a directory may name further ones
		if err := n.readDir(n.dirs[i]); err != nil {
			return err
		}
	}
	return nil
}

// namer finds the files that YAML files name.
type namer struct {
	source Source
	tree   *tree
	main   string   // where relative paths start
	dirs   []string // to read: the program, and components that it names
}

// readDir reads the YAML files of a directory. Programs in other languages have
// only their Pulumi.yaml.
func (n *namer) readDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil // Pulumi says more
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			continue
		}
		if err := n.readFile(filepath.Join(dir, entry.Name()), dir); err != nil {
			return err
		}
	}
	return nil
}

// pulumiVariables are those by which YAML names directories where paths start anyway.
var pulumiVariables = regexp.MustCompile(`\$\{\s*pulumi\.(cwd|rootDirectory|root)\s*\}`)

func (n *namer) readFile(file, dir string) error {
	content, err := files.Read(file, files.Text)
	if err != nil {
		return err
	}
	var document any
	if yaml.Unmarshal(pulumiVariables.ReplaceAll(content, []byte(".")), &document) != nil {
		return nil // nothing that Pulumi could read
	}
	return n.walk(document, dir)
}

// walk adds what a value names.
func (n *namer) walk(value any, dir string) error {
	switch value := value.(type) {
	case string:
		return n.addText(value, dir)
	case []any:
		for _, item := range value {
			if err := n.walk(item, dir); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, item := range value {
			if err := n.walkEntry(key, item, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *namer) walkEntry(key string, item any, dir string) error {
	if !readsFile(key) || n.source.Runtime != "yaml" {
		return n.walk(item, dir)
	}
	path, isText := item.(string)
	if !isText || strings.Contains(path, "${") {
		return fmt.Errorf("%s in %s: %w", key, dir, errComputed)
	}
	if strings.Contains(path, "://") {
		return nil
	}
	for _, path := range candidates(path, n.bases(dir)) {
		if _, err := os.Stat(path); err != nil {
			continue // Pulumi says so
		}
		if err := n.tree.add(path, isKept); err != nil {
			return err
		}
	}
	return nil
}

// readsFile reports whether a key is a function of Pulumi YAML that reads a file.
func readsFile(key string) bool {
	switch strings.ToLower(key) {
	case "fn::readfile", "fn::fileasset", "fn::filearchive":
		return true
	}
	return false
}

// addText adds the files that a string names as a whole or in its words. In one
// such as ./templates/${name}.json everything in ./templates counts.
func (n *namer) addText(text, dir string) error {
	for _, word := range slices.Compact(append([]string{text}, strings.Fields(text)...)) {
		word = strings.Trim(word, `"'`)
		if known, _, computed := strings.Cut(word, "${"); computed {
			if word = known[:strings.LastIndex(known, "/")+1]; word == "" || word == "/" {
				continue
			}
		} else if word != text && !strings.Contains(word, "/") {
			continue
		}
		if err := n.addWord(word, dir); err != nil {
			return err
		}
	}
	return nil
}

// bases returns the directories in which a path of a file in dir may start.
func (n *namer) bases(dir string) []string {
	return slices.Compact([]string{n.main, n.source.Dir, dir})
}

func (n *namer) addWord(word, dir string) error {
	for _, path := range candidates(word, n.bases(dir)) {
		if isBelow(n.source.Root, path) {
			continue // the repository as a whole, or more
		}
		if err := n.tree.addNamed(path, n.source.Root); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, "PulumiPlugin.yaml")); err == nil && !slices.Contains(n.dirs, path) {
			n.dirs = append(n.dirs, path)
		}
	}
	return nil
}
