package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rule judges the values of one key or of several together.
type Rule func(v Values) []Finding

// Finding is what a rule says about the value of a key.
type Finding struct {
	Key   string
	Text  string // what is wrong: "is 3; it may not be more than eks:max_size (2)"
	At    string // key whose line is shown if Key has no value; "" for none
	Doubt bool   // the value may be right: a warning
}

// Values is the configuration that a rule judges.
type Values struct {
	Get   func(key string) any  // configured value, else the default; nil if no project reads the key
	IsSet func(key string) bool // the key has a value of its own
	Dir   string                // config/pulumi of the root, absolute; "" if files cannot be judged
}

// Text returns the value of a string, or a number as one; "" for any other value.
func (v Values) Text(key string) string {
	switch value := v.Get(key).(type) {
	case string:
		return value
	case int:
		return strconv.Itoa(value)
	}
	return ""
}

// Int returns the value of a whole number.
func (v Values) Int(key string) (number int, ok bool) { return Number(v.Get(key)) }

// Bool reports whether the value is true.
func (v Values) Bool(key string) bool { return fmt.Sprint(v.Get(key)) == "true" }

// List returns the strings in the value of a list.
func (v Values) List(key string) []string {
	value := v.Get(key)
	if texts, ok := value.([]string); ok {
		return texts
	}
	var texts []string
	items, _ := listOf(value)
	for _, item := range items {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// Map returns the value of a map; nil for any other value.
func (v Values) Map(key string) map[string]any {
	value, _ := v.Get(key).(map[string]any)
	return value
}

// Wrong returns the only finding of a rule, an error.
func Wrong(key, format string, args ...any) []Finding {
	return []Finding{{Key: key, Text: fmt.Sprintf(format, args...)}}
}

// Doubtful returns the only finding of a rule, a warning.
func Doubtful(key, format string, args ...any) []Finding {
	return []Finding{{Key: key, Text: fmt.Sprintf(format, args...), Doubt: true}}
}

// WithDefault returns a key with its value, and says so if that is the default: whoever reads it has not written it.
func (v Values) WithDefault(key string) string {
	value := fmt.Sprint(v.Get(key))
	if !v.IsSet(key) {
		value += ", the default"
	}
	return key + " (" + value + ")"
}

// mentioned returns a key of the file that a text names; "" if it names none.
func (f StackFile) mentioned(text string) string {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;()", r) }) {
		if _, ok := f.Lookup(word); ok {
			return word
		}
	}
	return ""
}

// Judge returns what rules find in the file: errors and warnings with their lines.
func (f StackFile) Judge(rules []Rule, v Values) (problems, doubts []Problem) {
	for _, rule := range rules {
		for _, finding := range rule(v) {
			if f.Accepts(finding.Key) {
				continue
			}
			problem := f.Problem(finding.Key, finding.Text)
			if _, ok := f.Lookup(finding.Key); !ok {
				at := f.Problem(cmp.Or(finding.At, f.mentioned(finding.Text)), "")
				problem.File, problem.Line = at.File, at.Line
			}
			problem.Acceptable = !finding.Doubt
			list := &problems
			if finding.Doubt {
				list = &doubts
			}
			if !slices.Contains(*list, problem) {
				*list = append(*list, problem)
			}
		}
	}
	return problems, doubts
}
