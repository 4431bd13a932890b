// Package settings reads the configuration of a program: typed, with the
// defaults and limits that the project declares in the catalogue. It collects
// every problem, so that one run tells the user all there is to correct.
package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
)

// Settings reads the keys that one project declares.
type Settings struct {
	project  model.Project
	stack    string
	lookup   func(key string) (string, bool)
	note     func(key string) // receives the keys that the program reads
	problems []error
}

// noteKey is the key of the function, in a program's context, that receives the
// configuration keys that the program reads.
type noteKey struct{}

// Watch returns a context that reports the keys that a program reads. A test compares them
// with the declared ones.
func Watch(ctx *pulumi.Context, note func(key string)) *pulumi.Context {
	return ctx.WithValue(noteKey{}, note)
}

// New makes the settings of a project from the configuration of its stack, and
// checks every key that the project declares.
func New(ctx *pulumi.Context, project model.Project) *Settings {
	s := load(project, ctx.Stack(), ctx.GetConfig)
	if note, ok := ctx.Value(noteKey{}).(func(string)); ok {
		s.note = note
	}
	return s
}

func load(project model.Project, stack string, lookup func(string) (string, bool)) *Settings {
	s := &Settings{project: project, stack: stack, lookup: lookup, note: func(string) {}}
	for _, key := range project.Keys {
		s.read(key.Name, key.Kind)
	}
	if len(s.problems) == 0 { // rules judge values that are valid
		s.judge()
	}
	return s
}

// judge applies the project's rules over several keys. Warnings are the runner's to give.
func (s *Settings) judge() {
	value := func(name string) any {
		key, ok := s.project.Key(name)
		if !ok {
			return nil
		}
		if text, ok := s.lookup(name); ok && text != "" {
			return decode(key.Kind, text)
		}
		return key.Default
	}
	isSet := func(name string) bool { text, ok := s.lookup(name); return ok && text != "" }
	for _, rule := range s.project.Rules {
		for _, finding := range rule(config.Values{Get: value, IsSet: isSet}) {
			if key, ok := s.project.Key(finding.Key); ok && !finding.Doubt && !s.accepts(finding.Key) {
				s.reject(key, errors.New(finding.Text))
			}
		}
	}
}

// String reads a string. Without a value and a default it is "".
func (s *Settings) String(name string) string {
	text, _ := s.take(name, config.String).(string)
	return text
}

// Infrastructure returns the provider of the stack's cluster.
func (s *Settings) Infrastructure() model.Infrastructure {
	infrastructure, _ := projects.InfrastructureByName(s.String(projects.InfraType)) // Validate has checked it
	return infrastructure
}

// ClusterIdentity returns the configured identity of a cluster that is there already; "" if there is none.
func (s *Settings) ClusterIdentity() string {
	identity := s.String(projects.IdentityKey)
	if s.Infrastructure().Existing == nil {
		return ""
	}
	return identity
}

// Int reads a whole number.
func (s *Settings) Int(name string) int {
	switch value := s.take(name, config.Int).(type) {
	case int:
		return value
	case string:
		number, _ := strconv.Atoi(value) // Validate has checked it
		return number
	}
	return 0
}

// Bool reads true or false.
func (s *Settings) Bool(name string) bool {
	switch value := s.take(name, config.Bool).(type) {
	case bool:
		return value
	case string:
		return value == "true"
	}
	return false
}

// List reads a list of strings; nil when there is none.
func (s *Settings) List(name string) []string {
	switch value := s.take(name, config.List).(type) {
	case []string:
		return slices.Clone(value)
	case []any:
		items := make([]string, len(value))
		for i, item := range value {
			items[i], _ = item.(string) // Validate has checked it
		}
		return items
	}
	return nil
}

// Map reads a free-form map; nil when there is none.
func (s *Settings) Map(name string) map[string]any {
	value, _ := s.take(name, config.Map).(map[string]any)
	return maps.Clone(value)
}

// IsSet reports whether the configuration itself has a value for the key; its
// default does not count.
func (s *Settings) IsSet(name string) bool {
	s.declared(name)
	s.note(name)
	text, ok := s.lookup(name)
	return ok && text != ""
}

// Declares reports whether the project declares the key.
func (s *Settings) Declares(name string) bool {
	_, ok := s.project.Key(name)
	return ok
}

// Simulated reports whether the program's clouds are stand-ins.
func (s *Settings) Simulated() bool {
	simulated, _ := s.lookup(model.SimulatedKey)
	return simulated == "true"
}

// Secret reads one of the secret values that some project declares. The value
// is plain here: wrap it with pulumi.ToSecret before it goes anywhere.
func (s *Settings) Secret(secret model.Secret) string {
	text, ok := s.lookup(secret.Key)
	switch {
	case ok && len(text) < secret.MinLength:
		s.problems = append(s.problems, fmt.Errorf(
			"secret %q is shorter than %d characters: give it a longer value with `runner secrets set %s -s %s`",
			secret.Key, secret.MinLength, secret.Key, s.stack))
	case ok && text != "":
		return text
	case secret.Default != "":
		return secret.Default
	case secret.Optional && s.Simulated():
		return "simulated"
	default:
		s.problems = append(s.problems, fmt.Errorf(
			"secret %q (%s) has no value in config/pulumi/secrets/Pulumi.%s.yaml: set it with `runner secrets set %s -s %s`",
			secret.Key, secret.Doc, s.stack, secret.Key, s.stack))
	}
	return ""
}

// Reject records that a key's value cannot be used, for what neither the key nor a rule can judge, such as a file
// that cannot be read.
func (s *Settings) Reject(name, format string, args ...any) {
	s.reject(s.declared(name), fmt.Errorf(format, args...))
}

// Err returns all problems found so far, or nil.
func (s *Settings) Err() error {
	return errors.Join(s.problems...)
}

// take reads a value on the program's behalf.
func (s *Settings) take(name string, kind config.Kind) any {
	s.note(name)
	return s.read(name, kind)
}

// read gives a key's value: decoded and valid, or its default, or nil.
func (s *Settings) read(name string, kind config.Kind) any {
	key := s.declared(name)
	if key.Kind != kind {
		panic(fmt.Sprintf("project %s declares %q as %s, but its program reads it as %s",
			s.project.Name, name, key.Kind, kind))
	}
	text, ok := s.lookup(name)
	if !ok || text == "" {
		if key.Required && key.Default == nil && len(key.Variables) == 0 { // variables are for a provider, not for programs
			s.reject(key, errors.New("is not set"))
		}
		return key.Default
	}
	value := decode(kind, text)
	validate := key.Validate
	if s.accepts(name) {
		validate = key.ValidateAccepted
	}
	if err := validate(value); err != nil {
		s.reject(key, err)
		return key.Default
	}
	return value
}

// accepts reports whether the stack file says that the values of a key are right.
func (s *Settings) accepts(name string) bool {
	text, _ := s.lookup(config.AcceptKey)
	return config.InAccepted(decode(config.List, text), name)
}

// declared finds the declaration of a key. A program that reads what its
// project does not declare would escape validation and documentation.
func (s *Settings) declared(name string) config.Key {
	key, ok := s.project.Key(name)
	if !ok {
		panic(fmt.Sprintf("project %s reads the configuration key %q, but does not declare it in the catalogue",
			s.project.Name, name))
	}
	return key
}

func (s *Settings) reject(key config.Key, cause error) {
	problem := fmt.Errorf("configuration key %q in %s %w%s", key.Name, s.file(), cause, hint(key, cause))
	if !slices.ContainsFunc(s.problems, func(seen error) bool { return seen.Error() == problem.Error() }) {
		s.problems = append(s.problems, problem)
	}
}

// file returns the path of the stack file that holds the project's keys.
func (s *Settings) file() string {
	dir := "config/pulumi/"
	if s.project.Name == model.SecretsProject {
		dir += "secrets/"
	}
	return dir + "Pulumi." + s.stack + ".yaml"
}

// hint says what the key takes: what it means, what is allowed unless the cause says it, an example.
func hint(key config.Key, cause error) string {
	parts := []string{key.Doc}
	if len(key.Allowed) > 0 && !strings.Contains(cause.Error(), "allowed: ") {
		parts = append(parts, "allowed: "+strings.Join(key.Allowed, ", "))
	}
	if key.Example != "" {
		parts = append(parts, "example: "+key.Example)
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// decode turns the text of a Pulumi configuration value into what
// config.Key.Validate checks. Lists and maps travel as JSON; text that is not
// JSON stays text, and Validate then says what was expected.
func decode(kind config.Kind, text string) any {
	if kind != config.List && kind != config.Map {
		return text
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return text
	}
	return value
}
