package encryption

import (
	"fmt"
	"maps"
	"slices"

	"mara/config"

	"gopkg.in/yaml.v3"
)

// stackFile is a stack file for a working copy.
type stackFile struct{ config.Document }

// parse parses a stack file. Errors name the file.
func parse(file config.StackFile) (stackFile, error) {
	document, err := file.Document()
	if err != nil {
		return stackFile{}, fmt.Errorf("reading %w", err)
	}
	return stackFile{document}, nil
}

// text returns the value of a top-level key, or "".
func (f stackFile) text(key string) string {
	if node := config.Child(f.Root, key); node != nil {
		return node.Value
	}
	return ""
}

func (f stackFile) setText(key, value string) { config.SetChild(f.Root, key, scalar(value)) }

// The top-level keys of a stack file that describe its encryption.
const (
	saltKey     = "encryptionsalt"
	providerKey = "secretsprovider"
	dataKey     = "encryptedkey"
)

// importsKey is the top-level key with the environments of Pulumi ESC that a stack file imports.
const importsKey = "environment"

// scheme returns the scheme of the file.
func (f stackFile) scheme() Scheme {
	return Scheme{Salt: f.text(saltKey), Provider: f.text(providerKey), DataKey: f.text(dataKey)}
}

// setScheme replaces the scheme of the file.
func (f stackFile) setScheme(s Scheme) {
	for _, line := range [][2]string{{saltKey, s.Salt}, {providerKey, s.Provider}, {dataKey, s.DataKey}} {
		if config.RemoveChild(f.Root, line[0]); line[1] != "" {
			f.setText(line[0], line[1])
		}
	}
}

// keepTexts quotes plain numbers and dates among the configuration values: Pulumi would read
// the version 1.30 as the number 1.3. It does not change values inside lists and maps.
func (f stackFile) keepTexts() {
	plain := []string{"!!float", "!!int", "!!timestamp"}
	for pair := range slices.Chunk(f.Config().Content, 2) {
		if node := pair[1]; node.Kind == yaml.ScalarNode && slices.Contains(plain, node.Tag) {
			node.Tag, node.Style = "!!str", yaml.DoubleQuotedStyle
		}
	}
}

// tagsKey is the configuration from which Pulumi takes the tags of a stack.
const tagsKey = "pulumi:tags"

// addTags adds tags of the stack that the file does not have.
func (f stackFile) addTags(tags map[string]string) {
	if len(tags) == 0 {
		return
	}
	own := config.Child(f.Config(), tagsKey)
	if own == nil {
		own = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		config.SetChild(f.Config(), tagsKey, own)
	}
	if own.Kind != yaml.MappingNode {
		return // Pulumi says what is wrong with it
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		if config.Child(own, name) == nil {
			config.SetChild(own, name, scalar(tags[name]))
		}
	}
}

// secureKeys returns the keys with encrypted values, including nested ones.
func (f stackFile) secureKeys() []string {
	var keys []string
	for pair := range slices.Chunk(f.Config().Content, 2) {
		if hasSecure(pair[1]) {
			keys = append(keys, pair[0].Value)
		}
	}
	return keys
}

// ciphertext returns the encrypted value of a configuration key, or "".
func (f stackFile) ciphertext(key string) string {
	if value := config.Child(f.Config(), key); value != nil {
		return stackFile{config.Document{Root: value}}.text("secure")
	}
	return ""
}

func hasSecure(node *yaml.Node) bool {
	if node.Kind == yaml.MappingNode && config.Child(node, "secure") != nil {
		return true
	}
	return slices.ContainsFunc(node.Content, hasSecure)
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text}
}

// secure returns a node that holds a ciphertext.
func secure(ciphertext string) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{scalar("secure"), scalar(ciphertext)}}
}
