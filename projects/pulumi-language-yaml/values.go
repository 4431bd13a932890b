package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// values returns the configuration as the interpreter takes it. A value of a key that the template declares as a
// string is that string, where Pulumi's own host makes a number of "1.10" and a boolean of "true".
func values(
	template *ast.TemplateDecl, project string, config map[string]string, secretKeys []string,
) resource.PropertyMap {
	texts := declaredTexts(template, project)
	all := resource.PropertyMap{}
	for key, text := range config {
		value := resource.NewProperty(text)
		if !texts[key] {
			value = valueOf(text)
		}
		if slices.Contains(secretKeys, key) {
			value = resource.MakeSecret(value)
		}
		all[resource.PropertyKey(key)] = value
	}
	return all
}

// declaredTexts returns the full names of the keys that a template declares as strings: by a type, or by a default.
func declaredTexts(template *ast.TemplateDecl, project string) map[string]bool {
	texts := map[string]bool{}
	for _, entry := range template.GetConfig().Entries {
		declared := entry.Value
		if entry.Key == nil || declared == nil {
			continue
		}
		name := entry.Key.Value
		if declared.Name != nil && declared.Name.Value != "" {
			name = declared.Name.Value
		}
		if !strings.Contains(name, ":") {
			name = project + ":" + name
		}
		if declared.Type != nil {
			texts[name] = strings.EqualFold(declared.Type.Value, "string")
			continue
		}
		texts[name] = isText(declared.Default) || isText(declared.Value)
	}
	return texts
}

func isText(e ast.Expr) bool {
	_, text := e.(*ast.StringExpr)
	return text
}

// valueOf parses a string as Pulumi's own host does: as a number, a boolean or JSON, else as a
// string. A number with a leading zero, such as a zip code, is a string.
func valueOf(text string) resource.PropertyValue {
	if len(text) > 1 && text[0] == '0' && !strings.HasPrefix(text, "0.") {
		return resource.NewProperty(text)
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return resource.NewProperty(number)
	}
	if truth, err := strconv.ParseBool(text); err == nil {
		return resource.NewProperty(truth)
	}
	var decoded any
	if err := json.Unmarshal([]byte(text), &decoded); err == nil {
		return resource.NewPropertyValue(decoded)
	}
	return resource.NewProperty(text)
}
