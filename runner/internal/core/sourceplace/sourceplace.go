// Package sourceplace locates a resource in a repository, for findings: the line of the
// resource if its program is YAML, else a file that the user wrote.
package sourceplace

import (
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config/files"
	"mara/projects/model"
)

// Place is a line of a file below the root.
type Place struct {
	File string // with slashes; "" if there is none
	Line int    // from 1
}

// programs are the files of a project that may declare resources in YAML.
var programs = []string{"Main.yaml", "Main.yml", "Pulumi.yaml", "Pulumi.yml"}

// Find returns the place of a resource of a project of the user: its line in a
// YAML program, else the first line of the project's Pulumi.yaml. For a project
// that is not below the root, and for built-in ones, which have no file of the
// user, it returns the first of the fallbacks that exists.
func Find(root string, own *model.Own, resource string, fallbacks ...string) Place {
	if own != nil && own.Git != "" {
		return Place{"mara.yaml", max(own.Line, 1)}
	}
	if own != nil {
		var first string
		for _, name := range programs {
			file := filepath.Join(own.Dir, name)
			content, readErr := files.ReadCommitted(file, files.Text)
			below, err := filepath.Rel(root, file)
			if readErr != nil || err != nil || !filepath.IsLocal(below) {
				continue
			}
			below = filepath.ToSlash(below)
			if line := lineOf(content, resource); line > 0 {
				return Place{below, line}
			}
			if first == "" || strings.HasPrefix(name, "Pulumi.") {
				first = below
			}
		}
		if first != "" {
			return Place{first, 1}
		}
		if own.Line > 0 {
			return Place{"mara.yaml", own.Line}
		}
	}
	for _, file := range fallbacks {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err == nil {
			return Place{file, 1}
		}
	}
	return Place{}
}

// lineOf returns the line of a resource in a YAML program, by its key or its name; 0 if it is not there.
func lineOf(content []byte, resource string) int {
	var program struct {
		Resources yaml.Node `yaml:"resources"`
	}
	if resource == "" || yaml.Unmarshal(content, &program) != nil || program.Resources.Kind != yaml.MappingNode {
		return 0
	}
	line := 0
	for i := 0; i+1 < len(program.Resources.Content); i += 2 {
		key := program.Resources.Content[i]
		var declared struct {
			Name string `yaml:"name"`
		}
		_ = program.Resources.Content[i+1].Decode(&declared) // one that is no mapping has no name
		switch {
		case declared.Name == resource:
			return key.Line
		case key.Value == resource && declared.Name == "":
			line = key.Line
		}
	}
	return line
}

// Prefix returns the path from the top of the git repository to the root, with a
// slash at its end; "" if they are the same, or there is no repository.
func Prefix(root string) string {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return ""
	}
	for dir := absolute; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			below, err := filepath.Rel(dir, absolute)
			if err != nil || below == "." {
				return ""
			}
			return filepath.ToSlash(below) + "/"
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
