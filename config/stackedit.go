package config

import (
	"reflect"
	"regexp"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
	"gopkg.in/yaml.v3"
)

// Change sets one configuration value, or takes it away.
type Change struct {
	Key   string
	Value any  // string, int, bool, []string, []any or map[string]any
	Unset bool // take the key away; Value does not matter
}

// Edit makes the changes and returns the new content. Everything that is not
// changed stays as it is, byte for byte: comments, order, quotes and line ends.
// Nothing is written.
//
// The YAML parser tells where keys and values begin; the edit itself works on
// lines, since writing the parsed nodes out again would change others. The
// result is read back and compared with what was asked for, so that an edit in
// a file of an unexpected form is an error, never a damaged file.
func (f StackFile) Edit(changes ...Change) ([]byte, error) {
	content := f.Content
	for _, change := range changes {
		edited, err := edit(f.File, content, change)
		if err != nil {
			return nil, err
		}
		content = edited
	}
	return content, nil
}

// edit makes one change and checks what came of it.
func edit(file string, content []byte, change Change) ([]byte, error) {
	before, err := ParseStack(file, content)
	if err != nil {
		return nil, err
	}
	_, exists := before.Lookup(change.Key)
	switch {
	case change.Unset && !exists:
		return content, nil
	case !exists && !isPlainKey(change.Key):
		return nil, &Error{Problems: []Problem{{File: file, Key: change.Key, Text: "is not a configuration key; write namespace:name"}}}
	}
	e, err := newStackEditor(file, content)
	if err != nil {
		return nil, err
	}
	if err := e.apply(change, exists); err != nil {
		return nil, err
	}
	edited := e.bytes()
	if !isEdit(before, file, edited, change) {
		text := "cannot be changed by the runner in a file of this form; change it by hand"
		return nil, &Error{Problems: []Problem{{File: file, Key: change.Key, Text: text}}}
	}
	return edited, nil
}

// isEdit says whether content is the file before it with this change and no other.
func isEdit(before StackFile, file string, content []byte, change Change) bool {
	after, err := ParseStack(file, content)
	if err != nil {
		return false
	}
	want := before.Values()
	delete(want, change.Key)
	if !change.Unset {
		want[change.Key] = asDecoded(change.Value)
	}
	return reflect.DeepEqual(want, after.Values()) && reflect.DeepEqual(otherKeys(before.Content), otherKeys(content))
}

// asDecoded is a value the way it comes back when the file is read.
func asDecoded(value any) any {
	items, ok := value.([]string)
	if !ok {
		return value
	}
	return append([]any{}, slice.Map(items, func(item string) any { return item })...)
}

// otherKeys is what a stack file says besides its configuration.
func otherKeys(content []byte) map[string]any {
	others := map[string]any{}
	if err := yaml.Unmarshal(content, &others); err != nil {
		return nil
	}
	delete(others, "config")
	if len(others) == 0 {
		return nil // nothing is the same as a document that is null
	}
	return others
}

// isPlainKey says whether a key can be written without quotes.
func isPlainKey(key string) bool {
	return regexp.MustCompile(`^[\pL\pN_][\pL\pN_./-]*:[\pL\pN_./-]+$`).MatchString(key)
}
