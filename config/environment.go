package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/joho/godotenv"
)

// EnvironmentFile is the environment file below the root.
const EnvironmentFile = Directory + "/environment"

// Variable is one line of the environment file.
type Variable struct {
	Name, Value string
	Line        int
}

// Environment is the content of the environment file. The zero Environment is empty.
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

// ParseEnvironment reads the content of an environment file; file is its name in messages,
// which never show a value.
//
// godotenv parses the values. Where it would guess (a missing =, text after a quote, a
// reference to an unknown variable, a name set twice), ParseEnvironment reports an error with
// the line: a silent guess is often a wrong password. With an error it also returns the valid
// lines, since they may name the stack whose files are to be checked as well.
func ParseEnvironment(file string, data []byte) (Environment, error) {
	statements, problems := scanEnvironment(file, data)
	problems = append(problems, refusedIn(file, statements)...)
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
		return Environment{}, problemsError(problems...)
	}
	var variables []Variable
	for _, s := range statements {
		variables = append(variables, Variable{Name: s.name, Value: values[s.name], Line: s.line})
	}
	return Environment{variables}, problemsError(problems...)
}

// Variables returns the variables in the order of the file.
func (e Environment) Variables() []Variable { return slices.Clone(e.variables) }

// Lookup returns a variable. As for Pulumi, an empty value counts as not set.
func (e Environment) Lookup(name string) (Value, bool) {
	for _, v := range e.variables {
		if v.Name == name && v.Value != "" {
			origin := Origin{Source: FromFile, Name: name, File: EnvironmentFile, Line: v.Line}
			return Value{Text: v.Value, Origin: origin}, true
		}
	}
	return Value{}, false
}

// Merge returns the environment for Pulumi: the process environment (NAME=value each)
// overridden by the file.
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
	// OnlyStack is the only configured stack; not set if there are several, or none.
	OnlyStack Value
	Known     []string // the stacks of the root, for messages
	// Selected returns the stack that Pulumi has selected, for messages; nil if that is not known.
	Selected func() string
}

// Lookup returns the value of the first name that is set in the file, or else of the first
// that is set in the process environment.
func (s Sources) Lookup(names ...string) Value {
	return cmp.Or(s.inFile(names...), s.inProcess(names...))
}

func (s Sources) process(name string) Value {
	for _, entry := range slices.Backward(s.Process) {
		if text, ok := strings.CutPrefix(entry, name+"="); ok && text != "" {
			return Value{Text: text, Origin: Origin{Source: FromProcess, Name: name}}
		}
	}
	return Value{}
}

// inFile returns the value of the first name that is set in the environment file. What chooses programs is not taken
// from there.
func (s Sources) inFile(names ...string) (value Value) {
	for _, name := range names {
		if !Steers(name) {
			file, _ := s.File.Lookup(name)
			value = cmp.Or(value, file)
		}
	}
	return value
}

// inProcess returns the value of the first name that is set in the process environment.
func (s Sources) inProcess(names ...string) (value Value) {
	for _, name := range names {
		value = cmp.Or(value, s.process(name))
	}
	return value
}

// agreed returns the value of a flag, else of variables that choose the environment to work on.
// Two values of variables are an error: the environment file against the process environment,
// or two variables in the file.
func (s Sources) agreed(flag Value, names ...string) (Value, error) {
	if flag.IsSet() {
		return flag, nil
	}
	value := s.inFile(names...)
	others := []Value{s.inProcess(names...)}
	for _, name := range names {
		others = append(others, s.inFile(name))
	}
	for _, other := range others {
		if value.IsSet() && other.IsSet() && other.Text != value.Text {
			return Value{}, disagreement(other, value, fmt.Sprintf("%q", value.Text))
		}
	}
	return cmp.Or(value, others[0]), nil
}

// disagreement returns the error for a value that differs from the one in the environment
// file. said is the quoted value in the file, or "" for a value that may hold a password.
func disagreement(other, file Value, said string) error {
	text := fmt.Sprintf("is not what %s says", file.Origin)
	if said != "" {
		text = fmt.Sprintf("is %q, but %s says %s", other.Text, file.Origin, said)
	}
	next := fmt.Sprintf("unset %s, or remove line %d of %s", other.Origin.Name, file.Origin.Line, EnvironmentFile)
	if flag := flagOf[file.Origin.Name]; flag != "" {
		next += "; " + flag + " overrides both"
	}
	return other.Wrong(text, next)
}

// flagOf maps variables to the flags that override them.
var flagOf = map[string]string{StackVariable: "-s NAME", RunnerStackVariable: "-s NAME", ProviderVariable: "-p NAME"}

// Overridden describes the variables that a flag overrides with another value; it returns ""
// without any.
func (s Sources) Overridden(flag Value, names ...string) string {
	if !flag.IsSet() || flag.Origin.Source != FromFlag {
		return ""
	}
	var over []string
	for _, value := range []Value{s.inFile(names...), s.inProcess(names...)} {
		if value.IsSet() && value.Text != flag.Text {
			over = append(over, fmt.Sprintf("%s (%s)", value.Origin, value.Text))
		}
	}
	if len(over) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s overrides %s", flag.Origin.Name, flag.Text, strings.Join(over, " and "))
}

// UseOnlyStack makes the only configured stack below the root the default. An only stack that no file in config/ names
// is not: its stack files are next to the projects, and others may be elsewhere. Errors are reported by the commands
// that read the stacks. known are all stacks that the root has.
func (s *Sources) UseOnlyStack(root string, known []string) {
	s.Known = known
	names, err := Stacks(root)
	if err != nil || len(names) != 1 || len(known) > 1 {
		return
	}
	s.OnlyStack = Value{Text: names[0], Origin: Origin{Source: FromOnlyStack, Name: names[0]}}
}

// With returns the sources with another value of a variable, which overrides both
// environments.
func (s Sources) With(name, value string) Sources {
	s.File.variables = slices.DeleteFunc(slices.Clone(s.File.variables), func(v Variable) bool { return v.Name == name })
	s.Process = append(slices.Clone(s.Process), name+"="+value)
	return s
}
