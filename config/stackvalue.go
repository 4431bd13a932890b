package config

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// render encodes a value as YAML for a key at the given indent. The result begins with a line
// end if the value needs lines of its own, or with | for a string of several lines.
func (e *stackEditor) render(value any, indent int) (string, error) {
	var node yaml.Node
	if err := node.Encode(value); err != nil {
		return "", err
	}
	const key = "k" // indents the value
	pair := []*yaml.Node{{Kind: yaml.ScalarNode, Value: key}, &node}
	text, err := marshal(&yaml.Node{Kind: yaml.MappingNode, Content: pair})
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, key+":"), "\n"), "\n")
	for i := range lines {
		if i > 0 && lines[i] != "" {
			lines[i] = strings.Repeat(" ", indent) + lines[i]
		}
	}
	return strings.TrimPrefix(strings.Join(lines, e.eol), " "), nil
}

func marshal(node *yaml.Node) (string, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(node); err != nil {
		return "", err
	}
	return b.String(), encoder.Close()
}

// unfold writes a configuration that is in braces, or null, on lines of its own, with the
// change made.
func (e *stackEditor) unfold(change Change) error {
	end := e.inlineEnd(e.config)
	colon := e.offsetAfterColon(e.configKey)
	if end < 0 || colon < 0 {
		return nil // the check finds that nothing has changed
	}
	config := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(e.config.Content); i += 2 {
		name, _ := normalKey(e.config.Content[i].Value)
		if name != change.Key {
			config.Content = append(config.Content, e.config.Content[i], e.config.Content[i+1])
		}
	}
	if !change.Unset {
		var value yaml.Node
		if err := value.Encode(change.Value); err != nil {
			return err
		}
		config.Content = append(config.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: change.Key}, &value)
	}
	text, err := e.render(config, e.configKey.Column-1)
	if err != nil {
		return err
	}
	comment := e.restOfLine(end)
	e.splice(colon, end+len(comment), withComment(text, comment, e.eol))
	return nil
}

// offsetAfterColon returns the offset after the colon of a key, or -1 if the key is not
// followed by one.
func (e *stackEditor) offsetAfterColon(key *yaml.Node) int {
	end := e.inlineEnd(key)
	if end < 0 {
		return -1
	}
	rest := e.restOfLine(end)
	trimmed := strings.TrimLeft(rest, " \t")
	if !strings.HasPrefix(trimmed, ":") {
		return -1
	}
	return end + len(rest) - len(trimmed) + 1
}

// inlineEnd returns the offset after a value whose end is plain to see: a plain string on one
// line, a quoted one, a list or map in brackets. It returns -1 for others.
func (e *stackEditor) inlineEnd(node *yaml.Node) int {
	start, length := e.offset(node), -1
	rest := e.content[start:]
	switch {
	case len(rest) == 0:
	case (node.Kind == yaml.MappingNode || node.Kind == yaml.SequenceNode) && node.Style&yaml.FlowStyle == 0:
	case rest[0] == '"' || rest[0] == '\'':
		length = quotedEnd(rest)
	case node.Kind == yaml.AliasNode:
		length = len("*" + node.Value)
	case rest[0] == '[' || rest[0] == '{':
		length = flowEnd(rest)
	case node.Kind == yaml.ScalarNode && node.Style == 0 && node.Value != "" && bytes.HasPrefix(rest, []byte(node.Value)):
		length = len(node.Value)
	}
	if length < 0 {
		return -1
	}
	return start + length
}

// quotedEnd returns the length of the quoted string at the beginning of text, or -1.
func quotedEnd(text []byte) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return -1
}

// flowEnd returns the length of the list or map in brackets at the beginning of text, or -1.
func flowEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case (c == '"' || c == '\'') && bytes.ContainsRune([]byte(" \t\r\n[{,:"), rune(text[i-1])):
			length := quotedEnd(text[i:])
			if length < 0 {
				return -1
			}
			i += length - 1
		case c == '#' && bytes.ContainsRune([]byte(" \t\r\n"), rune(text[i-1])):
			length := bytes.IndexByte(text[i:], '\n')
			if length < 0 {
				return -1
			}
			i += length
		}
	}
	return -1
}
