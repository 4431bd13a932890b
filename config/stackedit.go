package config

import (
	"reflect"
	"regexp"

	"gopkg.in/yaml.v3"
)

// Change sets or deletes one configuration value.
type Change struct {
	Key   string
	Value any  // string, int, bool, []string, []any or map[string]any
	Unset bool // delete the key; Value is ignored

	// Within is the path in Value to what the change changes, of names and indexes: the rest of the value is there already.
	Within []any
}

// Edit makes the changes and returns the new content; it writes nothing. Everything else stays
// byte for byte: comments, order, quotes and line ends.
//
// The YAML parser finds where keys and values begin; the edit itself works on lines, since
// encoding the parsed nodes again would change others. The result is decoded and compared with
// the requested values, so that an edit of a file in an unexpected form is an error, never a
// damaged file.
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

// edit makes one change and verifies the result.
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
		text := "is not a configuration key; write namespace:name"
		return nil, problemsError(Problem{File: file, Key: change.Key, Text: text})
	}
	e, err := newStackEditor(file, content)
	if err != nil {
		return nil, err
	}
	isWritten := exists && e.isWritten(change.Key)
	if len(change.Within) > 0 && isWritten && e.replaceWithin(change) {
		if edited := e.bytes(); isEdit(before, file, edited, change) {
			return edited, nil
		}
	}
	if err := e.apply(change, isWritten); err != nil {
		return nil, err
	}
	edited := e.bytes()
	if !isEdit(before, file, edited, change) {
		text := "cannot be changed by the runner in a file of this form; change it by hand"
		return nil, problemsError(Problem{File: file, Key: change.Key, Text: text})
	}
	return edited, nil
}

// isEdit reports whether content is the file before with this change and no other.
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

// asDecoded returns a value as the decoder would return it.
func asDecoded(value any) any {
	items, ok := value.([]string)
	if !ok {
		return value
	}
	decoded := make([]any, len(items))
	for i, item := range items {
		decoded[i] = item
	}
	return decoded
}

// otherKeys returns the keys of a stack file other than config, with their values.
func otherKeys(content []byte) map[string]any {
	others := map[string]any{}
	if err := yaml.Unmarshal(content, &others); err != nil {
		return nil
	}
	delete(others, "config")
	if len(others) == 0 {
		return nil // equal to the result for a null document
	}
	return others
}

// isPlainKey reports whether a key can be written without quotes.
func isPlainKey(key string) bool {
	return regexp.MustCompile(`^[\pL\pN_][\pL\pN_./-]*:[\pL\pN_./-]+$`).MatchString(key)
}
