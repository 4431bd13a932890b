package config

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// StackPath returns the path of the stack file below the root.
func StackPath(stack string) string { return Directory + "/Pulumi." + stack + ".yaml" }

// SecretsPath returns the path of the secrets project's stack file below the root.
func SecretsPath(stack string) string { return Directory + "/secrets/Pulumi." + stack + ".yaml" }

// StackFile is a stack's configuration: Pulumi's own file, which all projects
// but secrets share. The zero StackFile has no configuration.
type StackFile struct {
	File    string // as shown: "config/pulumi/Pulumi.dev.yaml"
	Exists  bool
	Content []byte // as read
	Entries []Entry

	overridden map[string]bool // keys with a value for one run
	own        *StackFile      // the file on disk, if layers are merged
	described  bool            // layers contribute to the values
}

// Entry is one configuration value.
type Entry struct {
	Key   string // "eks:min_size"
	Value any    // string, int, bool, []any, map[string]any or Ciphertext
	Line  int
	File  string  // path of the layer; "" for the stack file
	Over  []Place // overridden values in layers, the nearest first
	Why   string  // evidence for a value that the cluster has answered; "" for other values
}

// Ciphertext is an encrypted value, as Pulumi wrote it below "secure".
type Ciphertext string

// ReadStack reads the stack file below root. A missing file is empty.
func ReadStack(root, stack string) (StackFile, error) { return readStackFile(root, StackPath(stack)) }

// ReadSecrets reads the stack file of the secrets project below root.
func ReadSecrets(root, stack string) (StackFile, error) {
	return readStackFile(root, SecretsPath(stack))
}

func readStackFile(root, name string) (StackFile, error) {
	data, exists, err := readOptional(root, name)
	if err != nil {
		return StackFile{}, err
	}
	if !exists {
		return StackFile{File: name}, NearlyStackFile(filepath.Join(root, filepath.FromSlash(name)), name)
	}
	file, err := ParseStack(name, data)
	file.Exists = true
	return file, err
}

// NearlyStackFile returns the problem of a stack file that is missing, and has a file of the same stack beside it that was
// certainly meant: .yml, or pulumi in other letters. Protection that is written there would be none. shown is the name of
// the missing file in messages.
func NearlyStackFile(file, shown string) error {
	entries, _ := os.ReadDir(filepath.Dir(file)) // missing, or another's to report
	wanted := filepath.Base(file)
	stack := strings.TrimSuffix(strings.TrimPrefix(wanted, "Pulumi."), ".yaml")
	var problems []Problem
	for _, entry := range entries {
		name := entry.Name()
		before, ending, found := strings.Cut(name, "."+stack+".")
		isMeant := found && strings.EqualFold(before, "Pulumi") && slices.Contains([]string{"yaml", "yml"}, strings.ToLower(ending))
		if !entry.IsDir() && name != wanted && isMeant {
			problems = append(problems, Problem{File: path.Join(path.Dir(shown), name),
				Text: "is not read, because of its name; rename it to " + wanted})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &Error{Problems: problems}
}

// ParseStack reads the content of a stack file strictly; file is its name in
// messages. All problems are reported at once.
func ParseStack(file string, data []byte) (StackFile, error) {
	stack := StackFile{File: file, Content: data}
	root, err := decodeDocument(file, data)
	if err != nil || root == nil {
		return stack, err
	}
	d := &stackDecoder{file: file}
	stack.Entries = d.document(root)
	if len(d.problems) > 0 {
		return StackFile{File: file}, problemsError(d.problems...)
	}
	return stack, nil
}

// Lookup finds a configuration value.
func (f StackFile) Lookup(key string) (Entry, bool) {
	for _, entry := range f.Entries {
		if entry.Key == key {
			return entry, true
		}
	}
	return Entry{}, false
}

// Text returns a string value with its origin; it is not set if the key has no string.
func (f StackFile) Text(key string) Value {
	entry, ok := f.Lookup(key)
	text, isText := entry.Value.(string)
	if !ok || !isText || text == "" {
		return Value{}
	}
	return Value{Text: text, Origin: f.Origin(entry)}
}

// Imports returns which environments of Pulumi ESC the file imports, in YAML, as it names them; nil for none.
func (f StackFile) Imports() []byte {
	root, err := decodeDocument(f.File, f.Content)
	if err != nil || root == nil {
		return nil // its reader has said so
	}
	imports := Child(root, importsKey)
	if imports == nil || isNull(imports) {
		return nil
	}
	text, _ := yaml.Marshal(imports) // a node that was read
	return text
}

// Values returns all values by key; encrypted ones are Ciphertext.
func (f StackFile) Values() map[string]any {
	values := make(map[string]any, len(f.Entries))
	for _, entry := range f.Entries {
		values[entry.Key] = entry.Value
	}
	return values
}

// decodeDocument returns the root of the only YAML document in data, without aliases, or nil if data has only comments.
func decodeDocument(file string, data []byte) (*yaml.Node, error) {
	root, err := decodeWritten(file, data)
	if err != nil || root == nil {
		return nil, err
	}
	if root, err = Expand(root); err != nil {
		return nil, syntaxError(file, data, err)
	}
	return root, nil
}

// decodeWritten returns the root as it is written, with its aliases.
func decodeWritten(file string, data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, syntaxError(file, data, err)
	}
	if err := decoder.Decode(&second); err == nil {
		text := "a second YAML document begins here; write one document"
		return nil, problemsError(Problem{File: file, Line: second.Line, Text: text})
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(file, data, err)
	}
	root := document.Content[0]
	if isNull(root) {
		return nil, nil
	}
	return root, nil
}

// syntaxError makes a problem of the parser's "yaml: line 3: ...". The parser gives no line
// for problems in the first one.
func syntaxError(file string, data []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if match := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(text); match != nil {
		line, _ = strconv.Atoi(match[1])
		text = strings.TrimPrefix(text, match[0])
	}
	if lines := strings.Split(string(data), "\n"); line > 0 && line <= len(lines) &&
		strings.HasPrefix(strings.TrimLeft(lines[line-1], " "), "\t") {
		text = "the line is indented with a tab; use spaces"
	}
	return problemsError(Problem{File: file, Line: line, Text: "is not valid YAML: " + text})
}

// topLevelKeys returns Pulumi's keys of a stack file.
func topLevelKeys() []string {
	return []string{"config", "encryptionsalt", "secretsprovider", "encryptedkey", importsKey}
}

// importsKey is the top-level key with the environments of Pulumi ESC that a stack file imports.
const importsKey = "environment"
