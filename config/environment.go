package config

import (
	"slices"
	"strings"

	"github.com/joho/godotenv"
	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
)

// EnvironmentFile is the environment file below the root.
const EnvironmentFile = Folder + "/environment"

// Variable is one line of the environment file.
type Variable struct {
	Name, Value string
	Line        int
}

// Environment is what the environment file says. The zero Environment is empty.
type Environment struct{ variables []Variable }

// ReadEnvironment reads the environment file below root. A missing file is an
// empty environment.
func ReadEnvironment(root string) (Environment, error) {
	data, exists, err := readOptional(root, EnvironmentFile)
	if err != nil || !exists {
		return Environment{}, err
	}
	return ParseEnvironment(EnvironmentFile, data)
}

// ParseEnvironment reads the content of an environment file; file is its name
// in messages, which never show a value.
//
// The values are godotenv's. Where godotenv would guess (a missing =, text
// after a quote, a reference to something unknown, a name set twice) there is
// an error with the line instead, for the guess is silent and often a password.
// With an error it also returns the lines that are right: they may name the stack
// whose files are to be checked as well.
func ParseEnvironment(file string, data []byte) (Environment, error) {
	statements, problems := scanEnvironment(file, data)
	statements = slices.DeleteFunc(statements, func(s statement) bool {
		return slices.ContainsFunc(problems, func(p Problem) bool { return p.Line == s.line })
	})
	var text strings.Builder
	for _, statement := range statements {
		text.WriteString(statement.name + "=" + statement.value + "\n")
	}
	values, err := godotenv.Unmarshal(text.String())
	if err != nil { // its text shows values
		if len(problems) == 0 {
			problems = []Problem{{File: file, Text: "is not a list of NAME=value lines"}}
		}
		return Environment{}, problemsError(problems)
	}
	variables := slice.Map(statements, func(s statement) Variable { return Variable{Name: s.name, Value: values[s.name], Line: s.line} })
	return Environment{variables}, problemsError(problems)
}

// Variables are the variables in the order of the file.
func (e Environment) Variables() []Variable { return slices.Clone(e.variables) }

// Lookup finds a variable. One with an empty value counts as not set, as it
// does for Pulumi.
func (e Environment) Lookup(name string) (Value, bool) {
	for _, v := range e.variables {
		if v.Name == name && v.Value != "" {
			origin := Origin{Source: FromFile, Name: name, File: EnvironmentFile, Line: v.Line}
			return Value{Text: v.Value, Origin: origin}, true
		}
	}
	return Value{}, false
}

// Merge is the environment for Pulumi: the process environment (NAME=value
// each) overridden by the file.
func (e Environment) Merge(process []string) map[string]string {
	merged := make(map[string]string, len(process)+len(e.variables))
	for _, entry := range process {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			merged[name] = value
		}
	}
	for _, v := range e.variables {
		merged[v.Name] = v.Value
	}
	return merged
}

// Sources looks variables up in the environment file and then in the
// environment of the process.
type Sources struct {
	File    Environment
	Process []string
}

// Lookup is the value of the first name that is set in the file, or else of the
// first that is set in the process environment.
func (s Sources) Lookup(names ...string) Value {
	for _, name := range names {
		if value, ok := s.File.Lookup(name); ok {
			return value
		}
	}
	for _, name := range names {
		if value := s.process(name); value.IsSet() {
			return value
		}
	}
	return Value{}
}

func (s Sources) process(name string) Value {
	for _, entry := range slices.Backward(s.Process) {
		if text, ok := strings.CutPrefix(entry, name+"="); ok && text != "" {
			return Value{Text: text, Origin: Origin{Source: FromProcess, Name: name}}
		}
	}
	return Value{}
}
