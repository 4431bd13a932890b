package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// stackDecoder decodes the YAML nodes of a stack file and collects the problems.
type stackDecoder struct {
	file     string
	problems []Problem
}

func (d *stackDecoder) problem(line int, key, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Key: key, Text: fmt.Sprintf(format, args...)})
}

// document decodes the root.
func (d *stackDecoder) document(root *yaml.Node) []Entry {
	if root.Kind != yaml.MappingNode {
		d.problem(root.Line, "", "a stack file is a map with the key config, not %s", nodeKind(root))
		return nil
	}
	var entries []Entry
	d.eachPair(root, "", func(key, value *yaml.Node) {
		switch {
		case key.Value == "config":
			entries = d.config(value)
		case !slices.Contains(topLevelKeys(), key.Value):
			d.unknownTopLevel(key)
		}
	})
	return entries
}

func (d *stackDecoder) unknownTopLevel(key *yaml.Node) {
	if strings.Contains(key.Value, ":") {
		d.problem(key.Line, key.Value, "belongs below config: indent it")
		return
	}
	d.problem(key.Line, key.Value, "is not a key of a stack file; allowed: %s%s",
		strings.Join(topLevelKeys(), ", "), DidYouMean(key.Value, topLevelKeys()))
}

// config decodes the configuration values.
func (d *stackDecoder) config(node *yaml.Node) []Entry {
	if isNull(node) {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		d.problem(node.Line, "config", "must be a map of namespace:name to value, not %s", nodeKind(node))
		return nil
	}
	var entries []Entry
	seen := map[string]int{}
	d.eachPair(node, "", func(key, value *yaml.Node) {
		name, ok := normalKey(key.Value)
		if !ok {
			d.problem(key.Line, key.Value, "is not a configuration key; write namespace:name")
			return
		}
		if line := seen[name]; line > 0 {
			d.problem(key.Line, key.Value, "is the same key as in line %d", line)
			return
		}
		seen[name] = key.Line
		entries = append(entries, Entry{Key: name, Value: d.value(name, value), Line: key.Line})
	})
	return entries
}

// normalKey returns a key as namespace:name; Pulumi also accepts the old
// namespace:config:name.
func normalKey(key string) (string, bool) {
	parts := strings.Split(key, ":")
	if len(parts) == 3 && parts[1] == "config" {
		parts = []string{parts[0], parts[2]}
	}
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
		return "", false
	}
	return parts[0] + ":" + parts[1], true
}

// eachPair visits the pairs of a map, and reports keys that are set twice or are not strings.
func (d *stackDecoder) eachPair(node *yaml.Node, within string, visit func(key, value *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			d.problem(key.Line, within, "has %s as a key; write a plain string", nodeKind(key))
		case seen[key.Value] > 0:
			d.problem(key.Line, join(within, key.Value), "is set a second time; the first time is line %d", seen[key.Value])
		default:
			seen[key.Value] = key.Line
			visit(key, value)
		}
	}
}

// join returns the name of a key inside the value of another.
func join(within, key string) string {
	if within == "" {
		return key
	}
	return within + "." + key
}

// value decodes one value; key names it in messages.
func (d *stackDecoder) value(key string, node *yaml.Node) any {
	switch node.Kind {
	case yaml.ScalarNode:
		return d.scalar(key, node)
	case yaml.SequenceNode:
		items := make([]any, 0, len(node.Content))
		for i, item := range node.Content {
			items = append(items, d.value(fmt.Sprintf("%s[%d]", key, i), item))
		}
		return items
	case yaml.MappingNode:
		return d.mapping(key, node)
	}
	d.problem(node.Line, key, "is a YAML alias; write the value itself")
	return nil
}

func (d *stackDecoder) mapping(key string, node *yaml.Node) any {
	if text, ok := ciphertext(node); ok {
		return text
	}
	values := make(map[string]any, len(node.Content)/2)
	d.eachPair(node, key, func(name, value *yaml.Node) {
		values[name.Value] = d.value(join(key, name.Value), value)
	})
	return values
}

// ciphertext recognises Pulumi's form of an encrypted value: a map with "secure" as its only
// key.
func ciphertext(node *yaml.Node) (Ciphertext, bool) {
	if len(node.Content) != 2 || node.Content[0].Value != "secure" || node.Content[1].Kind != yaml.ScalarNode {
		return "", false
	}
	return Ciphertext(node.Content[1].Value), true
}

// scalar keeps everything a string that is not plainly a whole number or a boolean: the
// version 1.30 is not the number 1.3, the account 0123 not 83.
func (d *stackDecoder) scalar(key string, node *yaml.Node) any {
	switch node.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(node.Value, "true")
	case "!!int":
		if number, err := strconv.Atoi(node.Value); err == nil && strconv.Itoa(number) == node.Value {
			return number
		}
		return node.Value
	case "!!str", "!!float", "!!timestamp":
		return node.Value
	}
	d.problem(node.Line, key, "has the YAML tag %s; write a plain value", node.Tag)
	return nil
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.Tag == "!!null" }

// nodeKind names the kind of a node in YAML's terms.
func nodeKind(node *yaml.Node) string {
	switch node.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a map"
	case yaml.AliasNode:
		return "an alias"
	}
	if node.Tag == "!!merge" {
		return "a merge (<<)"
	}
	return fmt.Sprintf("the string %q", node.Value)
}
