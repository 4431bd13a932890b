package config

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Header describes how the values of a stack file are encrypted, in keys next to config.
// "" is a missing key.
type Header struct {
	EncryptionSalt  string `yaml:"encryptionsalt,omitempty"`  // of a passphrase
	SecretsProvider string `yaml:"secretsprovider,omitempty"` // URL of a key service
	EncryptedKey    string `yaml:"encryptedkey,omitempty"`    // data key, encrypted by the key service
}

// values returns the header's keys, those with a value first, since a new key goes before the
// first key of the file.
func (h Header) values() [][2]string {
	values := [][2]string{
		{"encryptionsalt", h.EncryptionSalt}, {"encryptedkey", h.EncryptedKey}, {"secretsprovider", h.SecretsProvider},
	}
	slices.SortStableFunc(values, func(a, b [2]string) int { return cmp.Compare(min(1, len(b[1])), min(1, len(a[1]))) })
	return values
}

// MarshalYAML returns Pulumi's form of an encrypted value.
func (c Ciphertext) MarshalYAML() (any, error) {
	return map[string]string{"secure": string(c)}, nil
}

// Header returns the header of the file.
func (f StackFile) Header() (Header, error) {
	var got Header
	if err := yaml.Unmarshal(f.Content, &got); err != nil {
		return Header{}, syntaxError(f.File, f.Content, err)
	}
	return got, nil
}

// keyServices are the beginnings of addresses of key services that Pulumi has.
func keyServices() []string {
	return []string{"passphrase", "default", "awskms", "azurekeyvault", "gcpkms", "hashivault"}
}

// CheckHeader returns what is wrong with how the values of the file are encrypted, as far as its text tells.
func (f StackFile) CheckHeader() (problems []Problem) {
	root, err := decodeDocument(f.File, f.Content)
	if err != nil || root == nil {
		return nil // its reader has said so
	}
	header, err := f.Header()
	if err != nil {
		return nil
	}
	add := func(key, format string, args ...any) {
		line := 0
		if i := indexOfKey(root, key); i >= 0 {
			line = root.Content[i].Line
		}
		problems = append(problems, Problem{File: f.File, Line: line, Key: key, Text: fmt.Sprintf(format, args...)})
	}
	service, _, isAddress := strings.Cut(header.SecretsProvider, "://")
	isService := isAddress && service != "passphrase" && service != "default"
	switch {
	case header.EncryptionSalt != "" && !isSalt(header.EncryptionSalt):
		add("encryptionsalt", "is not a salt that Pulumi wrote; it begins with v1: and has three parts")
	case header.SecretsProvider != "" && !slices.Contains(keyServices(), service):
		add("secretsprovider", "is %q, which is no key service that Pulumi knows; known: %s%s", header.SecretsProvider,
			strings.Join(keyServices(), ", "), DidYouMean(service, keyServices()))
	case header.SecretsProvider != "" && !isAddress && service != "passphrase" && service != "default":
		add("secretsprovider", "is %q; write the address of a key, such as %s://...", header.SecretsProvider, service)
	case isService && header.EncryptionSalt != "":
		add("encryptionsalt", "is the salt of a passphrase, but secretsprovider names a key service; remove one of the two")
	case header.EncryptedKey != "" && !isService:
		add("encryptedkey", "is the key of a key service, but secretsprovider names none")
	}
	return problems
}

// isSalt reports whether a text has the form of a salt: v1:SALT:v1:NONCE:SEALED, in base64.
func isSalt(text string) bool {
	parts := strings.Split(text, ":")
	if len(parts) != 5 || parts[0] != "v1" || parts[2] != "v1" {
		return false
	}
	for _, part := range []string{parts[1], parts[3], parts[4]} {
		if _, err := base64.StdEncoding.DecodeString(part); err != nil || part == "" {
			return false
		}
	}
	return true
}

// EditHeader sets another header and returns the new content. As with Edit, everything else
// stays byte for byte.
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
		text := "has an encryption salt or key in a form that the runner cannot change; write it on one line"
		return nil, problemsError(Problem{File: f.File, Text: text})
	}
	return content, nil
}

// editTopLevel sets a string next to config; "" deletes the key.
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
		if end := e.inlineEnd(e.root.Content[i+1]); end >= 0 {
			line += e.restOfLine(end) // a comment
		}
		e.splice(e.lines[at], e.lineEnd(at), line)
	case line == "":
		return content, nil
	default:
		e.insert(e.firstKeyLine(), line+e.eol)
	}
	return e.bytes(), nil
}

// firstKeyLine returns the line of the first key, or the end of a file without keys.
func (e *stackEditor) firstKeyLine() int {
	if e.root == nil || len(e.root.Content) == 0 {
		return len(e.lines) - 1
	}
	return e.root.Content[0].Line - 1
}

// hasHeader reports whether content is the file with another header and nothing else changed.
func hasHeader(before StackFile, content []byte, header Header) bool {
	after, err := ParseStack(before.File, content)
	if err != nil || !reflect.DeepEqual(before.Values(), after.Values()) {
		return false
	}
	got, err := after.Header()
	return err == nil && got == header && slices.Equal(withoutHeader(before.Content), withoutHeader(content))
}

// withoutHeader returns the lines of a file that do not belong to a header.
func withoutHeader(content []byte) []string {
	var rest []string
	for line := range strings.Lines(string(content)) {
		key, _, _ := strings.Cut(line, ":")
		if !slices.Contains([]string{"encryptionsalt", "secretsprovider", "encryptedkey"}, key) {
			rest = append(rest, strings.TrimRight(line, "\r\n"))
		}
	}
	return rest
}

// Reseal replaces the ciphertexts of the file, by a map from the old to the new ones, and sets
// another header. The map must contain all that Ciphertexts lists.
func (f StackFile) Reseal(ciphertexts map[string]string, header Header) ([]byte, error) {
	var pairs []string
	for _, old := range f.Ciphertexts() {
		replacement, ok := ciphertexts[old]
		if !ok || !strings.Contains(string(f.Content), old) {
			text := "has an encrypted value in a form that the runner cannot change; write it on one line"
			return nil, problemsError(Problem{File: f.File, Text: text})
		}
		pairs = append(pairs, old, replacement)
	}
	f.Content = []byte(strings.NewReplacer(pairs...).Replace(string(f.Content)))
	resealed, err := ParseStack(f.File, f.Content)
	if err != nil {
		return nil, fmt.Errorf("after re-encryption: %w", err)
	}
	return resealed.EditHeader(header)
}

// Ciphertexts returns the encrypted values of the file at any depth, each once.
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
