package config

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// replaceWithin writes what a change changes within the value of a key, and leaves the rest of the value as it is
// written. It reports false for a form that it does not know, where the whole value has to be written.
func (e *stackEditor) replaceWithin(change Change) bool {
	if e.config == nil || e.config.Kind != yaml.MappingNode || e.config.Style&yaml.FlowStyle != 0 {
		return false
	}
	b, value, isFlow := e.findBlock(change.Key), change.Value, false
	for _, step := range change.Within {
		inner, ok := valueAt(value, step)
		if !ok || b.value.Anchor != "" {
			return false
		}
		isFlow = isFlow || b.value.Style&yaml.FlowStyle != 0
		child, ok := e.child(b, step)
		if !ok {
			return e.addWithin(b, step, inner, isFlow)
		}
		b, value = child, inner
	}
	if isFlow {
		end := e.inlineEnd(b.value)
		text, err := flowText(value)
		if end < 0 || err != nil {
			return false
		}
		e.splice(e.offset(b.value), end, text)
		return true
	}
	return e.replaceValue(b, value) == nil
}

// valueAt returns what a step leads to in a value.
func valueAt(value, step any) (any, bool) {
	switch step := step.(type) {
	case string:
		values, _ := value.(map[string]any)
		inner, ok := values[step]
		return inner, ok
	case int:
		if items, ok := value.([]any); ok && step >= 0 && step < len(items) {
			return items[step], true
		}
	}
	return nil, false
}

// child returns the entry of a map, or the item of a list, that a step leads to.
func (e *stackEditor) child(parent block, step any) (block, bool) {
	nodes := parent.value.Content
	var b block
	next := -1
	switch step := step.(type) {
	case string:
		i := -1
		if parent.value.Kind == yaml.MappingNode {
			i = indexOfName(parent.value, step)
		}
		if i < 0 {
			return block{}, false
		}
		b, next = block{key: nodes[i], value: nodes[i+1], first: nodes[i].Line - 1}, i+2
	case int:
		if parent.value.Kind != yaml.SequenceNode || step < 0 || step >= len(nodes) {
			return block{}, false
		}
		b, next = block{value: nodes[step], first: nodes[step].Line - 1}, step+1
	}
	b.end = parent.end
	if next < len(nodes) {
		b.end = max(nodes[next].Line-1, b.first+1)
	}
	b.end = e.trimmedEnd(b)
	return b, true
}

// indexOfName returns the index of a key in a map, or -1.
func indexOfName(node *yaml.Node, name string) int {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return i
		}
	}
	return -1
}

// addWithin adds an entry to a map, or an item to the end of a list.
func (e *stackEditor) addWithin(b block, step, value any, isFlow bool) bool {
	name, isName := step.(string)
	if isName != (b.value.Kind == yaml.MappingNode) || !isName && b.value.Kind != yaml.SequenceNode {
		return false
	}
	head := "-"
	if isName {
		key, err := marshal(&yaml.Node{Kind: yaml.ScalarNode, Value: name, Tag: "!!str"})
		if err != nil {
			return false
		}
		head = strings.TrimSuffix(key, "\n") + ":"
	}
	if isFlow {
		end := e.inlineEnd(b.value)
		text, err := flowText(value)
		if end < 0 || err != nil {
			return false
		}
		if isName {
			text = head + " " + text
		}
		if len(b.value.Content) > 0 {
			text = ", " + text
		}
		e.splice(end-1, end-1, text)
		return true
	}
	nodes := b.value.Content
	if len(nodes) == 0 {
		return false
	}
	indent := nodes[0].Column - 1
	last := block{value: nodes[len(nodes)-1], end: b.end}
	last.first = last.value.Line - 1
	if isName {
		last.key = nodes[len(nodes)-2]
		last.first = last.key.Line - 1
	} else if indent = e.dash(nodes[0]); indent < 0 {
		return false
	}
	text, err := e.render(value, indent)
	if err != nil {
		return false
	}
	e.insert(e.trimmedEnd(last), strings.Repeat(" ", indent)+head+withComment(text, "", e.eol)+e.eol)
	return true
}

// dash returns the column of the dash before an item of a list, or -1 if it is not on the line of the item.
func (e *stackEditor) dash(item *yaml.Node) int {
	line := e.line(item.Line - 1)
	before := line[:e.offset(item)-e.lines[item.Line-1]]
	text := strings.TrimRight(before, " \t")
	if !strings.HasSuffix(text, "-") {
		return -1
	}
	return len(text) - 1
}

// flowText returns a value as it is written within brackets.
func flowText(value any) (string, error) {
	var node yaml.Node
	if err := node.Encode(value); err != nil {
		return "", err
	}
	inFlow(&node)
	text, err := marshal(&yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{&node}})
	return strings.TrimSuffix(strings.TrimPrefix(text, "["), "]\n"), err
}

// inFlow gives a value the form that is possible within brackets.
func inFlow(node *yaml.Node) {
	switch {
	case node.Kind != yaml.ScalarNode:
		node.Style = yaml.FlowStyle
	case slices.Contains([]yaml.Style{yaml.LiteralStyle, yaml.FoldedStyle}, node.Style):
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, inner := range node.Content {
		inFlow(inner)
	}
}
