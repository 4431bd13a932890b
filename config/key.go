package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a configuration value.
type Kind string

// The kinds of configuration values.
const (
	String Kind = "string"
	Int    Kind = "integer"
	Bool   Kind = "boolean"
	List   Kind = "list" // a list of strings
	Items  Kind = "list of values"
	Map    Kind = "map" // a free-form map, such as chart values
)

// Key declares one key of the stack configuration. It is the single source
// for programs (typed reading), validation, documentation and questions.
type Key struct {
	Name      string   // "eks:k8s_version": namespace and name as in Pulumi.<stack>.yaml
	Kind      Kind     // type of the value
	Default   any      // nil means none; else string, int, bool, []string or map[string]any
	Required  bool     // the program needs a value and there is no default
	Variables []string // environment variables that Pulumi's plugin reads if the key is not set
	Allowed   []string // closed set of values of a string or an integer, or of the items of a list; nil means free
	Form      *Form    // syntax of a string, or of the items of a list; nil means any
	Min, Max  *int     // bounds of an integer; nil means unbounded
	Example   string   // shown in documentation and errors
	OfPlugin  bool     // Pulumi's plugin reads the key itself; its namespace has more keys, which are not declared here
	Open      bool     // the program may read keys of its namespace that it does not declare
	Typed     bool     // Pulumi checks the type as well, and takes no list as text
	Simulated any      // placeholder for a missing required key in a simulation
	Doc       string   // one line: meaning and unit
}

// Namespace returns the part of the name before the colon: "eks" of "eks:k8s_version".
func (k Key) Namespace() string {
	namespace, _, _ := strings.Cut(k.Name, ":")
	return namespace
}

// Set returns the first of the key's variables that is set.
func (k Key) Set(sources Sources) Value { return sources.Lookup(k.Variables...) }

// Validate checks the type and range of a decoded value. The error says what is allowed; the
// caller adds the key and the file.
func (k Key) Validate(value any) error {
	switch k.Kind {
	case String:
		return k.validateString(value)
	case Int:
		return k.validateInt(value)
	case Bool:
		return validateBool(value)
	case List:
		return k.validateList(value)
	case Items:
		if _, ok := value.([]any); !ok {
			return fmt.Errorf("must be a list, not %s", describe(value))
		}
		return nil
	case Map:
		if _, ok := value.(map[string]any); !ok {
			return fmt.Errorf("must be a map, not %s", describe(value))
		}
		return nil
	}
	return fmt.Errorf("has the undeclared kind %q", k.Kind)
}

func (k Key) validateString(value any) error {
	if number, ok := value.(int); ok {
		value = strconv.Itoa(number) // what Pulumi gives to a program
	}
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("must be a string in quotes, not %s", describe(value))
	}
	if len(k.Allowed) > 0 && !slices.Contains(k.Allowed, text) {
		return refuse("is %q; allowed: %s", text, strings.Join(k.Allowed, ", "))
	}
	if text == "" {
		return nil
	}
	return k.Form.validate("is", text)
}

func (k Key) validateInt(value any) error {
	number, ok := Number(value)
	if !ok {
		return fmt.Errorf("must be a whole number, not %s", describe(value))
	}
	if k.Min != nil && number < *k.Min {
		return refuse("is %d; the smallest allowed value is %d", number, *k.Min)
	}
	if k.Max != nil && number > *k.Max {
		return refuse("is %d; the largest allowed value is %d", number, *k.Max)
	}
	if len(k.Allowed) > 0 && !slices.Contains(k.Allowed, strconv.Itoa(number)) {
		return refuse("is %d; allowed: %s", number, strings.Join(k.Allowed, ", "))
	}
	return nil
}

// Number returns a whole number, which may be in a string: `pulumi config set n 3` writes "3".
func Number(value any) (number int, ok bool) {
	switch typed := value.(type) {
	case int:
		return typed, true
	case string:
		number, err := strconv.Atoi(typed)
		return number, err == nil
	}
	return 0, false
}

func validateBool(value any) error {
	switch value {
	case true, false, "true", "false":
		return nil
	}
	return fmt.Errorf("must be true or false, not %s", describe(value))
}

// listOf returns the items of a list, which may be text in JSON: `pulumi config set --path` writes a list, and older programs
// that parse JSON themselves have text.
func listOf(value any) (items []any, ok bool) {
	if text, isText := value.(string); isText && strings.HasPrefix(strings.TrimSpace(text), "[") {
		return items, json.Unmarshal([]byte(text), &items) == nil
	}
	items, ok = value.([]any)
	return items, ok
}

// validateList checks a list of strings. The items of a list with a form, or with a closed set of values, differ.
func (k Key) validateList(value any) error {
	items, ok := listOf(value)
	if _, isText := value.(string); !ok || isText && k.Typed {
		return fmt.Errorf("must be a list, not %s", describe(value))
	}
	for i, item := range items {
		text, ok := item.(string)
		if !ok {
			return fmt.Errorf("has %s as item %d; items must be strings", describe(item), i+1)
		}
		if len(k.Allowed) > 0 && !slices.Contains(k.Allowed, text) {
			return refuse("has %q; allowed: %s", text, strings.Join(k.Allowed, ", "))
		}
		if err := k.Form.validate("has", text); err != nil {
			return err
		}
		if (k.Form != nil || len(k.Allowed) > 0) && slices.Contains(items[:i], item) {
			return refuse("has %q twice", text)
		}
	}
	return nil
}

// ValidateAccepted checks a value that whoever wrote it has accepted: its type alone.
func (k Key) ValidateAccepted(value any) error {
	if err := k.Validate(value); !isRefusal(err) {
		return err
	}
	return nil
}

// describe names the type of a value in YAML's terms.
func describe(value any) string {
	switch typed := value.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("the string %q", typed)
	case int, float64:
		return fmt.Sprintf("the number %v", typed)
	case bool:
		return fmt.Sprintf("the boolean %v", typed)
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return fmt.Sprintf("%T", value)
}
