package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Parse parses the input for a key by its kind and validates the value: the version 1.30 stays
// a string. Lists are written with commas or as YAML, maps as YAML.
func (k Key) Parse(text string) (any, error) {
	value, err := parseKind(k.Kind, text)
	if err != nil {
		return nil, err
	}
	return value, k.Validate(value)
}

// ParseAccepted parses like Parse, for a key whose values are right whatever a check says.
func (k Key) ParseAccepted(text string) (any, error) {
	value, err := parseKind(k.Kind, text)
	if err != nil {
		return nil, err
	}
	return value, k.ValidateAccepted(value)
}

func parseKind(kind Kind, text string) (any, error) {
	switch kind {
	case Int:
		if number, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			return number, nil
		}
	case Bool:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	case List:
		if !strings.HasPrefix(strings.TrimSpace(text), "[") {
			return splitList(text), nil
		}
		return parseYAML(text)
	case Map, Items:
		return parseYAML(text)
	}
	return text, nil
}

// splitList splits a list at commas and skips empty items.
func splitList(text string) []any {
	items := []any{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// ParseFree parses the input for an undeclared key: a string, unless it is written as a list
// or map.
func ParseFree(text string) (any, error) {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "{") {
		return parseYAML(text)
	}
	return text, nil
}

// parseYAML reads a value as in a stack file.
func parseYAML(text string) (any, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, fmt.Errorf("is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 {
		return nil, errors.New("is empty")
	}
	d := &stackDecoder{}
	value := d.value("value", document.Content[0])
	if len(d.problems) > 0 {
		return nil, errors.New(d.problems[0].String())
	}
	return value, nil
}

// redacted is shown in place of encrypted values.
const redacted = "[secret]"

// Show returns a value on one line, as Parse reads it. Secrets are redacted.
func Show(value any) string {
	switch typed := value.(type) {
	case nil:
		return ""
	case Ciphertext:
		return redacted
	case string:
		return typed
	case []any, []string, map[string]any:
		var node yaml.Node
		if err := node.Encode(Redacted(value, nil)); err != nil {
			break
		}
		flow(&node)
		if text, err := marshal(&node); err == nil {
			return strings.TrimSpace(text)
		}
	}
	return fmt.Sprint(value)
}

// Redacted replaces the encrypted parts of a value. Strings go through hide, unless it is nil.
func Redacted(value any, hide func(string) string) any {
	switch typed := value.(type) {
	case Ciphertext:
		return redacted
	case string:
		if hide != nil {
			return hide(typed)
		}
	case []any:
		items := make([]any, len(typed))
		for i, item := range typed {
			items[i] = Redacted(item, hide)
		}
		return items
	case map[string]any:
		values := make(map[string]any, len(typed))
		for key, inner := range typed {
			values[key] = Redacted(inner, hide)
		}
		return values
	}
	return value
}

// flow makes the encoder write a node in brackets, on one line.
func flow(node *yaml.Node) {
	node.Style |= yaml.FlowStyle
	for _, child := range node.Content {
		if child.Kind != yaml.ScalarNode {
			flow(child)
		}
	}
}
