package config

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// Document is a stack file as YAML nodes. It keeps the text of every value, but may lose comments: it is for copies
// that Pulumi reads. StackFile.Edit changes the user's files.
type Document struct{ Root *yaml.Node }

// NewDocument returns an empty document.
func NewDocument() Document { return Document{newMap()} }

// Document parses the file; an empty one has an empty root.
func (f StackFile) Document() (Document, error) {
	root, err := decodeDocument(f.File, f.Content)
	if err != nil || root == nil {
		return NewDocument(), err
	}
	if root.Kind != yaml.MappingNode {
		text := "a stack file is a map with the key config, not " + nodeKind(root)
		return Document{}, problemsError(Problem{File: f.File, Line: root.Line, Text: text})
	}
	return Document{root}, nil
}

// Bytes encodes the document.
func (d Document) Bytes() ([]byte, error) {
	text, err := marshal(d.Root)
	return []byte(text), err
}

// Config returns the map of configuration values. It adds a missing one.
func (d Document) Config() *yaml.Node {
	node := Child(d.Root, "config")
	if node == nil || node.Kind != yaml.MappingNode {
		node = newMap()
		SetChild(d.Root, "config", node)
	}
	return node
}

func newMap() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

// indexOfKey returns the index of a key in the content of a map, or -1. A configuration key may be written in its old
// form.
func indexOfKey(node *yaml.Node, key string) int {
	for i := 0; node != nil && i+1 < len(node.Content); i += 2 {
		written := node.Content[i].Value
		if name, _ := normalKey(written); written == key || name == key {
			return i
		}
	}
	return -1
}

// Child returns the value of a key in a map, or nil.
func Child(node *yaml.Node, key string) *yaml.Node {
	if i := indexOfKey(node, key); i >= 0 {
		return node.Content[i+1]
	}
	return nil
}

// SetChild sets the value of a key in a map.
func SetChild(node *yaml.Node, key string, value *yaml.Node) {
	if i := indexOfKey(node, key); i >= 0 {
		node.Content[i+1] = value
		return
	}
	node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
}

// RemoveChild removes a key from a map.
func RemoveChild(node *yaml.Node, key string) {
	if i := indexOfKey(node, key); i >= 0 {
		node.Content = slices.Delete(node.Content, i, i+2)
	}
}
