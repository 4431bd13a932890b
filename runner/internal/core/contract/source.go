package contract

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
)

// Source is a program in Pulumi YAML, parsed. Root is nil for a program of another runtime, and for one that a compiler
// generates.
type Source struct {
	File        string // with the program, as messages show it
	Manifest    string // the Pulumi.yaml, as messages show it
	Root        *yaml.Node
	Description *yaml.Node // the Pulumi.yaml, which may be the program
}

// ReadSource parses the program of the project in a directory; shown is that directory in messages. The error, a
// *config.Error, is about files that are no YAML, or that are not there.
func ReadSource(dir, shown string) (Source, error) {
	manifest := path.Join(shown, config.ManifestFile)
	s := Source{File: manifest, Manifest: manifest}
	description, err := readDocument(filepath.Join(dir, config.ManifestFile), s.File)
	if err != nil {
		return Source{}, err
	}
	s.Description = description
	runtime := valueOf(description, "runtime")
	if runtime == nil || runtime.Value != runtimeYAML && entry(runtime, "name") != runtimeYAML ||
		valueOf(valueOf(runtime, "options"), "compiler") != nil {
		return s, nil
	}
	if main := valueOf(description, "main"); main != nil && main.Value != "" {
		dir, shown = filepath.Join(dir, filepath.FromSlash(main.Value)), path.Join(shown, main.Value)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return s, problemOf(s.File, main.Line, "main names %s, and there is no such directory", main.Value)
		}
	}
	for _, name := range []string{"Main.json", "Main.yaml", config.ManifestFile} { // Pulumi's order
		file := path.Join(shown, name)
		root, err := readDocument(filepath.Join(dir, name), file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, err
		}
		s.File, s.Root = file, root
		return s, nil
	}
	return s, problemOf(s.File, 0, "main names %s, and there is no Main.yaml, Main.json or Pulumi.yaml in it", shown)
}

func problemOf(file string, line int, format string, args ...any) error {
	return &config.Error{Problems: []config.Problem{{File: file, Line: line, Text: fmt.Sprintf(format, args...)}}}
}

// lineOf finds the line in an error of the YAML parser.
var lineOf = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// readDocument parses a YAML or JSON file, whose root is a map.
func readDocument(file, shown string) (*yaml.Node, error) {
	content, err := files.ReadCommitted(file, files.Text)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		line, match := 0, lineOf.FindStringSubmatch(err.Error())
		if match != nil {
			line, _ = strconv.Atoi(match[1])
		}
		return nil, problemOf(shown, line, "is not valid YAML: %s", lineOf.ReplaceAllString(err.Error(), ""))
	}
	if len(document.Content) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode, Line: 1}, nil
	}
	root, err := config.Expand(document.Content[0])
	if err != nil {
		return nil, problemOf(shown, 0, "is not valid YAML: %v", err)
	}
	return root, nil
}

// sections returns the parts of the program by name, each with the line of its name.
func (s Source) sections() map[string]*yaml.Node {
	sections := map[string]*yaml.Node{}
	for key, value := range pairs(s.Root) {
		value.Line = key.Line
		sections[key.Value] = value
	}
	return sections
}

// Token is the type of a resource, or the name of a function, with its line.
type Token struct {
	Name string
	Line int
}

// Tokens returns the types of the resources and the functions in a program, without Pulumi's own, in the order of the
// file.
func (s Source) Tokens() (types, functions []Token) {
	add := func(to *[]Token, node *yaml.Node, name string) {
		if strings.Count(name, ":") > 0 && !strings.HasPrefix(name, "pulumi:") && !strings.Contains(name, "${") {
			*to = append(*to, Token{name, node.Line})
		}
	}
	var resourcesOf, calls func(node *yaml.Node)
	resourcesOf = func(node *yaml.Node) {
		for key, value := range pairs(node) {
			if key.Value != "resources" {
				continue
			}
			for _, resource := range pairs(value) {
				if kind := valueOf(resource, "type"); kind != nil {
					add(&types, kind, kind.Value)
				}
			}
		}
	}
	for _, part := range s.parts() {
		resourcesOf(part)
	}
	calls = func(node *yaml.Node) {
		for key, value := range pairs(node) {
			name, isCall := cutPrefixFold(key.Value, "fn::")
			if isCall && strings.EqualFold(name, "invoke") {
				for part, function := range pairs(value) {
					if strings.EqualFold(part.Value, "function") {
						add(&functions, function, function.Value)
					}
				}
			} else if isCall {
				add(&functions, key, name)
			}
		}
		for _, part := range node.Content {
			calls(part)
		}
	}
	if s.Root != nil {
		calls(s.Root)
	}
	return types, functions
}

func cutPrefixFold(text, prefix string) (string, bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return text, false
	}
	return text[len(prefix):], true
}
