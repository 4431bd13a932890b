package encryption

import (
	"fmt"
	"slices"

	"mara/config"

	"gopkg.in/yaml.v3"
)

// stackFile is a stack file as YAML nodes, which keep the text of every value.
type stackFile struct{ root *yaml.Node }

// parse parses a stack file; an empty file has an empty root. Errors name the file.
func parse(file config.StackFile) (stackFile, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(file.Content, &document); err != nil {
		return stackFile{}, fmt.Errorf("reading %s: %w", file.File, err)
	}
	if len(document.Content) == 0 {
		return stackFile{root: mapping()}, nil
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		root = mapping()
	}
	if root.Kind != yaml.MappingNode {
		return stackFile{}, fmt.Errorf("reading %s: line %d: a stack file is a map", file.File, root.Line)
	}
	return stackFile{root: root}, nil
}

func (f stackFile) bytes() ([]byte, error) { return yaml.Marshal(f.root) }

// text returns the value of a top-level key, or "".
func (f stackFile) text(key string) string {
	if node := get(f.root, key); node != nil {
		return node.Value
	}
	return ""
}

func (f stackFile) setText(key, value string) { set(f.root, key, scalar(value)) }

// The top-level keys of a stack file that describe its encryption.
const (
	saltKey     = "encryptionsalt"
	providerKey = "secretsprovider"
	dataKey     = "encryptedkey"
)

// scheme returns the scheme of the file.
func (f stackFile) scheme() Scheme {
	return Scheme{Salt: f.text(saltKey), Provider: f.text(providerKey), DataKey: f.text(dataKey)}
}

// setScheme replaces the scheme of the file.
func (f stackFile) setScheme(s Scheme) {
	for _, line := range [][2]string{{saltKey, s.Salt}, {providerKey, s.Provider}, {dataKey, s.DataKey}} {
		if remove(f.root, line[0]); line[1] != "" {
			f.setText(line[0], line[1])
		}
	}
}

// config returns the map of configuration values. It creates a missing one.
func (f stackFile) config() *yaml.Node {
	node := get(f.root, "config")
	if node == nil || node.Kind != yaml.MappingNode {
		node = mapping()
		set(f.root, "config", node)
	}
	return node
}

// keepTexts quotes plain numbers and dates among the configuration values: Pulumi would read
// the version 1.30 as the number 1.3. It does not change values inside lists and maps.
func (f stackFile) keepTexts() {
	plain := []string{"!!float", "!!int", "!!timestamp"}
	values := f.config()
	for i := 1; i < len(values.Content); i += 2 {
		if node := values.Content[i]; node.Kind == yaml.ScalarNode && slices.Contains(plain, node.Tag) {
			node.Tag, node.Style = "!!str", yaml.DoubleQuotedStyle
		}
	}
}

// secureKeys returns the keys with encrypted values, including nested ones.
func (f stackFile) secureKeys() []string {
	var keys []string
	values := f.config()
	for i := 0; i+1 < len(values.Content); i += 2 {
		if hasSecure(values.Content[i+1]) {
			keys = append(keys, values.Content[i].Value)
		}
	}
	return keys
}

// ciphertext returns the encrypted value of a configuration key, or "".
func (f stackFile) ciphertext(key string) string {
	if value := get(f.config(), key); value != nil {
		return stackFile{root: value}.text("secure")
	}
	return ""
}

func hasSecure(node *yaml.Node) bool {
	if node.Kind == yaml.MappingNode && get(node, "secure") != nil {
		return true
	}
	return slices.ContainsFunc(node.Content, hasSecure)
}

// index returns the index of a key in the content of a map, or -1.
func index(mapping *yaml.Node, key string) int {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}

func get(mapping *yaml.Node, key string) *yaml.Node {
	if i := index(mapping, key); i >= 0 {
		return mapping.Content[i+1]
	}
	return nil
}

func set(mapping *yaml.Node, key string, value *yaml.Node) {
	if i := index(mapping, key); i >= 0 {
		mapping.Content[i+1] = value
		return
	}
	mapping.Content = append(mapping.Content, scalar(key), value)
}

func remove(mapping *yaml.Node, key string) {
	if i := index(mapping, key); i >= 0 {
		mapping.Content = slices.Delete(mapping.Content, i, i+2)
	}
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text}
}

// secure returns a node that holds a ciphertext.
func secure(ciphertext string) *yaml.Node {
	node := mapping()
	set(node, "secure", scalar(ciphertext))
	return node
}
