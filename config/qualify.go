package config

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Qualified returns the content of a stack file next to a project with the project's name before keys that have no
// namespace. Pulumi takes them for the project's. Content that is not valid stays as it is, for the parser to report.
func Qualified(content []byte, project string) []byte {
	var document yaml.Node
	if yaml.Unmarshal(content, &document) != nil || len(document.Content) == 0 {
		return content
	}
	values := Child(document.Content[0], "config")
	if values == nil || values.Kind != yaml.MappingNode {
		return content
	}
	at := &stackEditor{content: content, lines: lineStarts(content)}
	for i := len(values.Content) - 2; i >= 0; i -= 2 { // from the end, so that offsets stay right
		key := values.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag != "!!str" || key.Value == "" || strings.Contains(key.Value, ":") {
			continue
		}
		offset := at.offset(key)
		if key.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			offset++
		}
		content = slices.Concat(content[:offset], []byte(project+":"), content[offset:])
	}
	return content
}
