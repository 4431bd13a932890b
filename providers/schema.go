package providers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mara/config"
	"mara/config/lists"
)

// StackSchema returns the JSON Schema of a stack file, for editors, generated from the keys
// that projects declare.
//
// It is stricter than the runner in one place: a string that YAML reads as a number, such as
// 1.30, must be quoted. The runner keeps such strings, but other readers of the file do not.
func StackSchema(keys []config.Key) ([]byte, error) {
	properties := map[string]any{}
	for _, key := range keys {
		properties[key.Name] = keySchema(key)
	}
	document := schema{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         "urn:mara:schema:config:1",
		"title":       "The configuration of an environment",
		"description": "config/pulumi/Pulumi.<stack>.yaml: Pulumi's stack file, which all projects share",
		"type":        []string{"object", "null"},
		"properties": schema{
			"config": schema{
				"type": []string{"object", "null"}, "properties": properties, "propertyNames": names(keys),
			},
			"encryptionsalt": schema{"type": "string", "description": "salt of the passphrase's key; written by Pulumi"},
			"secretsprovider": schema{
				"type": "string", "description": "what encrypts the secrets: passphrase, or the address of a cloud's key",
			},
			"encryptedkey": schema{"type": "string", "description": "data key of a cloud's key service; written by Pulumi"},
			"environment":  schema{"description": "environments of Pulumi ESC"},
		},
		"additionalProperties": false,
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(document)
	return b.Bytes(), err
}

type schema map[string]any

// ownNamespaces returns the namespaces in which only declared keys are valid. Pulumi's plugins
// read settings of their own in the others.
func ownNamespaces(keys []config.Key) []string {
	foreign := config.PluginNamespaces(keys)
	return slices.DeleteFunc(namespaces(keys), func(name string) bool { return slices.Contains(foreign, name) })
}

// names allows the declared keys, and any key in a namespace that the projects share with
// others.
func names(keys []config.Key) schema {
	declared := lists.Map(keys, func(key config.Key) string { return key.Name })
	return schema{"anyOf": []schema{
		{"enum": declared},
		{"pattern": "^[^:]+:.+$", "not": schema{"pattern": fmt.Sprintf("^(%s):", strings.Join(ownNamespaces(keys), "|"))}},
	}}
}

// keySchema describes the values of a key. Each may also be an encrypted value of Pulumi.
func keySchema(key config.Key) schema {
	secure := schema{
		"type": "object", "properties": schema{"secure": schema{"type": "string"}},
		"required": []string{"secure"}, "additionalProperties": false,
	}
	s := schema{"description": key.Doc, "anyOf": append(valueSchemas(key), secure)}
	if key.Default != nil {
		s["default"] = key.Default
	}
	if key.Example != "" && key.Kind == config.String {
		s["examples"] = []string{key.Example}
	}
	if !key.Required {
		s["anyOf"] = append(s["anyOf"].([]schema), schema{"type": "null"})
	}
	return s
}

// valueSchemas returns the schemas of a value. Pulumi itself writes numbers and booleans as
// strings.
func valueSchemas(key config.Key) []schema {
	switch key.Kind {
	case config.Int:
		number := schema{"type": "integer"}
		if key.Min != nil {
			number["minimum"] = *key.Min
		}
		if key.Max != nil {
			number["maximum"] = *key.Max
		}
		if len(key.Allowed) > 0 {
			number = schema{"enum": integers(key.Allowed)}
		}
		return []schema{number, {"type": "string", "pattern": "^[+-]?[0-9]+$"}}
	case config.Bool:
		return []schema{{"type": "boolean"}, {"enum": []string{"true", "false"}}}
	case config.List:
		return []schema{{"type": "array", "items": textSchema(key)}}
	case config.Items:
		return []schema{{"type": "array"}}
	case config.Map:
		return []schema{{"type": "object"}}
	}
	return []schema{textSchema(key)}
}

// textSchema returns the schema of a string, or of each item of a list. A string may be empty.
func textSchema(key config.Key) schema {
	text := schema{"type": "string"}
	if len(key.Allowed) > 0 {
		text["enum"] = key.Allowed
	}
	switch {
	case key.Form == config.Email:
		text["format"] = "email"
	case key.Form == config.Host:
		text["format"] = "hostname"
	case key.Form != nil && key.Form.Pattern != "":
		text["pattern"] = "^$|" + key.Form.Pattern
	}
	return text
}

// integers returns the numbers in texts.
func integers(texts []string) (numbers []int) {
	for _, text := range texts {
		if number, err := strconv.Atoi(text); err == nil {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// namespaces returns the namespaces of keys, the shared one first.
func namespaces(keys []config.Key) []string {
	names := []string{"kubernetes"}
	for _, key := range keys {
		if !slices.Contains(names, key.Namespace()) {
			names = append(names, key.Namespace())
		}
	}
	return names
}
