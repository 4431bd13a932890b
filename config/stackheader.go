package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Header is what a stack file says about the encryption of its values, in keys
// beside config. Empty texts are keys that are not there.
type Header struct {
	EncryptionSalt  string `yaml:"encryptionsalt,omitempty"`  // of a passphrase
	SecretsProvider string `yaml:"secretsprovider,omitempty"` // URL of a key service
	EncryptedKey    string `yaml:"encryptedkey,omitempty"`    // that the key service keeps safe
}

// values lists the header's keys: those with a value first, since a new one is
// put where the first of the old ones is.
func (h Header) values() [][2]string {
	values := [][2]string{{"encryptionsalt", h.EncryptionSalt}, {"encryptedkey", h.EncryptedKey}, {"secretsprovider", h.SecretsProvider}}
	slices.SortStableFunc(values, func(a, b [2]string) int { return cmp.Compare(min(1, len(b[1])), min(1, len(a[1]))) })
	return values
}

// MarshalYAML is Pulumi's form of an encrypted value.
func (c Ciphertext) MarshalYAML() (any, error) {
	return map[string]string{"secure": string(c)}, nil
}

// Header is what the file says about its encryption.
func (f StackFile) Header() (Header, error) {
	var got Header
	if err := yaml.Unmarshal(f.Content, &got); err != nil {
		return Header{}, syntaxError(f.File, f.Content, err)
	}
	return got, nil
}

// EditHeader gives the file another header and returns the new content. As with
// Edit, everything else stays byte for byte.
func (f StackFile) EditHeader(header Header) ([]byte, error) {
	content := f.Content
	for _, value := range header.values() {
		edited, err := editTopLevel(f.File, content, value[0], value[1])
		if err != nil {
			return nil, err
		}
		content = edited
	}
	if !hasHeader(f, content, header) {
		return nil, &Error{Problems: []Problem{{File: f.File, Text: "has an encryption salt or key in a form that the runner cannot change; write it on one line"}}}
	}
	return content, nil
}

// editTopLevel sets a text beside config, or takes it away.
func editTopLevel(file string, content []byte, key, value string) ([]byte, error) {
	e, err := newStackEditor(file, content)
	if err != nil {
		return nil, err
	}
	line := ""
	if value != "" {
		line = key + ": " + quoteYAML(value)
	}
	switch i := indexOfKey(e.root, key); {
	case i >= 0 && line == "":
		at := e.root.Content[i].Line - 1
		e.splice(e.lines[at], e.lines[at+1], "")
	case i >= 0:
		at := e.root.Content[i].Line - 1
		e.splice(e.lines[at], e.lineEnd(at), line+e.comment(i))
	case line == "":
		return content, nil
	default:
		e.insert(e.beforeKeys(), line+e.eol)
	}
	return e.bytes(), nil
}

// comment is what stands behind the value of a key beside config.
func (e *stackEditor) comment(i int) string {
	end := e.inlineEnd(e.root.Content[i+1])
	if end < 0 {
		return ""
	}
	return e.behind(end)
}

// beforeKeys is the line in front of which a header begins: that of the first
// key, or the end of a file that has none.
func (e *stackEditor) beforeKeys() int {
	if e.root == nil || len(e.root.Content) == 0 {
		return len(e.lines) - 1
	}
	return e.root.Content[0].Line - 1
}

// hasHeader says whether content is the file with another header and nothing
// else changed.
func hasHeader(before StackFile, content []byte, header Header) bool {
	after, err := ParseStack(before.File, content)
	if err != nil || !reflect.DeepEqual(before.Values(), after.Values()) {
		return false
	}
	if got, err := after.Header(); err != nil || got != header {
		return false
	}
	return slices.Equal(restOf(before.Content), restOf(content))
}

// restOf is the lines of a file that are no part of a header.
func restOf(content []byte) []string {
	var rest []string
	for line := range strings.Lines(string(content)) {
		key, _, _ := strings.Cut(line, ":")
		if !slices.Contains([]string{"encryptionsalt", "secretsprovider", "encryptedkey"}, key) {
			rest = append(rest, strings.TrimRight(line, "\r\n"))
		}
	}
	return rest
}

// Reseal puts other ciphertexts in the place of those in the file and gives it
// another header. The map is from the old to the new ones, and must have them
// all; Ciphertexts lists them.
func (f StackFile) Reseal(ciphertexts map[string]string, header Header) ([]byte, error) {
	var pairs []string
	for _, old := range f.Ciphertexts() {
		replacement, ok := ciphertexts[old]
		if !ok || !strings.Contains(string(f.Content), old) {
			return nil, &Error{Problems: []Problem{{File: f.File, Text: "has an encrypted value in a form that the runner cannot change; write it on one line"}}}
		}
		pairs = append(pairs, old, replacement)
	}
	f.Content = []byte(strings.NewReplacer(pairs...).Replace(string(f.Content)))
	resealed, err := ParseStack(f.File, f.Content)
	if err != nil {
		return nil, fmt.Errorf("after encrypting anew: %w", err)
	}
	return resealed.EditHeader(header)
}

// Ciphertexts lists the encrypted values of the file, also those that are deep
// inside others, each once.
func (f StackFile) Ciphertexts() []string {
	var found []string
	var collect func(value any)
	collect = func(value any) {
		switch typed := value.(type) {
		case Ciphertext:
			if !slices.Contains(found, string(typed)) {
				found = append(found, string(typed))
			}
		case []any:
			for _, item := range typed {
				collect(item)
			}
		case map[string]any:
			for _, item := range typed {
				collect(item)
			}
		}
	}
	for _, entry := range f.Entries {
		collect(entry.Value)
	}
	return found
}
