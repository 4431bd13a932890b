package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// ManifestFile is Pulumi's own file in the directory of a project.
const ManifestFile = "Pulumi.yaml"

// Manifest is the part of a Pulumi.yaml that the runner uses.
type Manifest struct {
	Name           string
	Runtime        string
	Binary         string // the built program that the runtime runs; "" for none
	Description    string
	StackConfigDir string // directory of its own stack files, below its directory
	Backend        Word   // URL
	Keys           []Key  // declared below config
	Secrets        []Key  // declared keys with secret: true
}

// Runtimes returns the runtimes of Pulumi, and those that come with the runner.
func Runtimes() []string {
	return []string{"yaml", "go", "nodejs", "python", "dotnet", "java", "bun", "mara"}
}

// ReadManifest reads the Pulumi.yaml in a directory; shown is that directory in
// messages.
func ReadManifest(directory, shown string) (Manifest, error) {
	name := filepath.ToSlash(filepath.Join(shown, ManifestFile))
	data, err := readFile(filepath.Join(directory, ManifestFile))
	if err != nil {
		return Manifest{}, fileError(name, err)
	}
	return ParseManifest(name, data)
}

// ParseManifest reads the content of a Pulumi.yaml; file is its name in messages. Keys that
// only Pulumi reads are ignored.
func ParseManifest(file string, data []byte) (Manifest, error) {
	var m Manifest
	root, err := decodeDocument(file, data)
	if err != nil {
		return m, err
	}
	d := &manifestDecoder{maraDecoder: maraDecoder{stackDecoder: stackDecoder{file: file}}}
	if root == nil || root.Kind != yaml.MappingNode {
		text := "is not the description of a Pulumi project: name and runtime are missing"
		return m, problemsError(Problem{File: file, Text: text})
	}
	var config *yaml.Node
	d.eachPair(root, "", func(key, value *yaml.Node) {
		switch key.Value {
		case "name":
			d.text(&m.Name)("name", value)
			isTemplate := strings.Contains(m.Name, "${") // which is refused later
			if m.Name != "" && !isTemplate && !isProjectName(m.Name) {
				const text = "is %q, which Pulumi refuses: a name has up to 100 letters, digits, -, _ and ."
				d.problem(value.Line, "name", text, m.Name)
			}
		case "runtime":
			d.runtime(value, &m)
		case "description":
			m.Description = value.Value
		case "stackConfigDir":
			d.text(&m.StackConfigDir)("stackConfigDir", value)
		case "backend":
			if value.Kind == yaml.MappingNode {
				d.eachPair(value, "backend", func(key, url *yaml.Node) {
					if key.Value == "url" {
						m.Backend = Word{url.Value, url.Line}
					}
				})
			}
		case "config":
			config = value
		}
	})
	if m.Name == "" && len(d.problems) == 0 {
		d.problem(root.Line, "name", "is missing")
	}
	if config != nil && config.Kind == yaml.ScalarNode && !isNull(config) {
		m.StackConfigDir, config = config.Value, nil // its old name
	}
	if config != nil {
		d.keys(config, &m)
	}
	return m, problemsError(d.problems...)
}

// isProjectName reports whether Pulumi takes the name of a project:
// github.com/pulumi/pulumi/sdk/v3/go/common/tokens, ValidateProjectName.
func isProjectName(text string) bool { return len(text) <= 100 && projectForm.MatchString(text) }

var projectForm = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// manifestDecoder decodes a Pulumi.yaml and collects the problems.
type manifestDecoder struct{ maraDecoder }

// runtime reads the runtime, a name or a map with a name.
func (d *manifestDecoder) runtime(node *yaml.Node, to *Manifest) {
	if node.Kind == yaml.ScalarNode {
		to.Runtime = node.Value
		return
	}
	if node.Kind != yaml.MappingNode {
		d.problem(node.Line, "runtime", "must be a name, or a map with a name, not %s", nodeKind(node))
		return
	}
	d.eachPair(node, "runtime", func(key, value *yaml.Node) {
		switch {
		case key.Value == "name":
			to.Runtime = value.Value
		case key.Value == "options" && value.Kind == yaml.MappingNode:
			to.Binary = d.textOf(value, "runtime.options", "binary")
		}
	})
}

// textOf returns the text of one key of a map; "" without it.
func (d *manifestDecoder) textOf(node *yaml.Node, within, name string) (text string) {
	d.eachPair(node, within, func(key, value *yaml.Node) {
		if key.Value == name {
			text = value.Value
		}
	})
	return text
}

// keys reads the section config. A key without a namespace is the project's. Keys of other
// namespaces are declared elsewhere; they only have values here.
func (d *manifestDecoder) keys(node *yaml.Node, m *Manifest) {
	d.entries("config", node, func(shown string, name Word, value *yaml.Node) {
		full := name.Text
		if !strings.Contains(full, ":") {
			full = m.Name + ":" + full
		}
		full, ok := normalKey(full)
		if !ok || !strings.HasPrefix(full, m.Name+":") {
			return
		}
		key, secret := d.key(shown, full, value)
		if secret {
			m.Secrets = append(m.Secrets, key)
			return
		}
		m.Keys = append(m.Keys, key)
	})
}

// key reads the declaration of one key: a map, or its default alone.
func (d *manifestDecoder) key(shown, name string, node *yaml.Node) (key Key, secret bool) {
	key = Key{Name: name, Kind: String}
	if node.Kind != yaml.MappingNode {
		key.Default = d.defaultValue(shown, node)
		key.Kind = kindOf(key.Default)
		return key, false
	}
	var typed, items string
	d.eachPair(node, shown, func(field, value *yaml.Node) {
		switch field.Value {
		case "type":
			typed = value.Value
		case "items":
			items = d.textOf(value, shown, "type")
		case "description":
			key.Doc = strings.Join(strings.Fields(value.Value), " ")
		case "default", "value":
			key.Default = d.defaultValue(shown, value)
		case "secret":
			secret = value.Value == "true"
		}
	})
	kind, known := kindNamed(typed, items)
	switch {
	case typed == "" && key.Default != nil:
		kind = kindOf(key.Default)
	case !known:
		d.problem(node.Line, shown, "has the type %q; allowed: string, integer, boolean, array, object", typed)
	}
	key.Kind, key.Required, key.Typed = kind, key.Default == nil, typed == "array"
	if isScalar := kind == Int || kind == Bool; isScalar && known && key.Default != nil {
		if err := key.Validate(key.Default); err != nil {
			d.problem(node.Line, shown, "has a default that is not of its type: %v", err)
		}
	}
	key.Doc = cmp.Or(key.Doc, "a value of the project "+key.Namespace())
	return key, secret
}

// defaultValue reads a default and makes a list of strings a []string, as Key.Default has it.
func (d *manifestDecoder) defaultValue(key string, node *yaml.Node) any {
	value := d.value(key, node)
	items, isList := value.([]any)
	if !isList || slices.ContainsFunc(items, func(item any) bool { _, isText := item.(string); return !isText }) {
		return value
	}
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = fmt.Sprint(item)
	}
	return list
}

// kindNamed returns the kind of one of Pulumi's types.
func kindNamed(name, items string) (Kind, bool) {
	switch name {
	case "", "string":
		return String, true
	case "integer":
		return Int, true
	case "boolean":
		return Bool, true
	case "array":
		if items == "string" {
			return List, true
		}
		return Items, true
	case "object":
		return Map, true
	}
	return String, false
}

// kindOf returns the kind of a value.
func kindOf(value any) Kind {
	switch value.(type) {
	case int:
		return Int
	case bool:
		return Bool
	case []string:
		return List
	case []any:
		return Items
	case map[string]any:
		return Map
	}
	return String
}
