package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
	"gopkg.in/yaml.v3"
)

// Parse makes the value of a text that was typed, by the kind of the key, and
// checks it: the version 1.30 stays a text. Lists are written with commas or as
// YAML, maps as YAML.
func (k Key) Parse(text string) (any, error) {
	value, err := parseKind(k.Kind, text)
	if err != nil {
		return nil, err
	}
	return value, k.Validate(value)
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

// splitList is the items of a list with commas; nothing is an empty list.
func splitList(text string) []any {
	items := slice.Map(strings.Split(text, ","), func(item string) any { return strings.TrimSpace(item) })
	return slices.DeleteFunc(items, func(item any) bool { return item == "" })
}

// ParseFree makes the value of a text for a key that no project declares: a
// text, or a list or map if it is written as one.
func ParseFree(text string) (any, error) {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "{") {
		return parseYAML(text)
	}
	return text, nil
}

// parseYAML reads a value the way a stack file is read.
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

// redacted is shown for what is encrypted.
const redacted = "[secret]"

// Show is a value on one line, the way Parse reads it. A secret one is redacted.
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
			return fmt.Sprint(typed)
		}
		flow(&node)
		text, err := marshal(&node)
		if err != nil {
			return fmt.Sprint(typed)
		}
		return strings.TrimSpace(text)
	}
	return fmt.Sprint(value)
}

// Redacted is a value without its encrypted parts. Its texts go through hide,
// unless that is nil.
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

// flow has a node written in brackets, on one line.
func flow(node *yaml.Node) {
	node.Style |= yaml.FlowStyle
	for _, child := range node.Content {
		if child.Kind != yaml.ScalarNode {
			flow(child)
		}
	}
}
