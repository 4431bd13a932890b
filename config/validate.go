package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"gopkg.in/yaml.v3"
)

// Check checks the values of a stack file against the declared keys of all known projects and
// reports every problem: wrong types and ranges, and keys that no project reads.
//
// An undeclared key is a problem in a namespace in which a project declares keys. The
// namespaces of Pulumi's plugins (aws, kubernetes, ...) also hold the plugins' settings, and
// other namespaces may belong to plain Pulumi programs of the user: there only a likely typing
// error is a problem.
func (f StackFile) Check(declared []Key) []Problem {
	keys := newKeySet(declared)
	var problems []Problem
	for _, entry := range f.Entries {
		err := keys.check(entry)
		if err == nil || isRefusal(err) && f.Accepts(entry.Key) {
			continue
		}
		problem := f.Problem(entry.Key, err.Error())
		problem.Acceptable = isRefusal(err)
		problems = append(problems, problem)
	}
	return problems
}

// CheckDeclared checks a file of one project like Check, but allows undeclared keys.
func (f StackFile) CheckDeclared(declared []Key) []Problem {
	keys := newKeySet(declared)
	f.Entries = slices.DeleteFunc(slices.Clone(f.Entries), func(entry Entry) bool {
		_, ok := keys.byName[entry.Key]
		return !ok
	})
	return f.Check(declared)
}

// Missing returns the required keys without a value in the file.
func (f StackFile) Missing(keys []Key) []Key {
	var missing []Key
	for _, key := range keys {
		entry, ok := f.Lookup(key.Name)
		present := ok && entry.Value != nil && entry.Value != ""
		listed := slices.ContainsFunc(missing, func(k Key) bool { return k.Name == key.Name })
		if key.Required && !present && !listed {
			missing = append(missing, key)
		}
	}
	return missing
}

// Needed removes the keys whose environment variable is set.
func Needed(keys []Key, sources Sources) []Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Set(sources).IsSet() })
}

// Unknown returns what is wrong with an undeclared key, or "" if it is declared or may belong
// to another program; see Check.
func Unknown(declared []Key, name string) string {
	keys := newKeySet(declared)
	if _, ok := keys.byName[name]; ok {
		return ""
	}
	return keys.unknown(name)
}

// Validate combines Check and Missing into one error: declared are the keys of all known
// projects, needed those of the projects that will run.
func (f StackFile) Validate(declared, needed []Key) error {
	problems := f.Check(declared)
	for _, key := range f.Missing(needed) {
		problems = append(problems, f.missing(key))
	}
	return problemsError(problems...)
}

// missing returns the problem for a missing key, with every way to set it.
func (f StackFile) missing(key Key) Problem {
	text := "is missing: " + key.Doc
	if len(key.Allowed) > 0 {
		text += "; allowed: " + strings.Join(key.Allowed, ", ")
	}
	value := shellescape.Quote(cmp.Or(key.Example, "VALUE"))
	text += fmt.Sprintf("; set it with `runner config set %s %s`, for one run with --config %s=%s",
		key.Name, value, key.Name, value)
	if len(key.Variables) > 0 {
		text += fmt.Sprintf(", or as %s=%s in %s", key.Variables[0], value, EnvironmentFile)
	}
	return Problem{File: f.File, Key: key.Name, Text: text}
}

// quoteYAML quotes a string that YAML would read as another type.
func quoteYAML(text string) string {
	if number, err := strconv.Atoi(text); err == nil && strconv.Itoa(number) == text {
		return text
	}
	quoted, err := yaml.Marshal(text)
	if err != nil {
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(string(quoted), "\n")
}

// keySet indexes the declared keys.
type keySet struct {
	byName     map[string]Key
	names      []string
	namespaces []string
	plugins    []string // namespaces with keys of Pulumi's plugins, or of programs that declare only some
}

func newKeySet(keys []Key) keySet {
	set := keySet{byName: map[string]Key{}, plugins: PluginNamespaces(keys)}
	for _, key := range keys {
		if _, ok := set.byName[key.Name]; ok {
			continue
		}
		set.byName[key.Name] = key
		if key.Open && !slices.Contains(set.plugins, key.Namespace()) {
			set.plugins = append(set.plugins, key.Namespace())
		}
		set.names = append(set.names, key.Name)
		if !slices.Contains(set.namespaces, key.Namespace()) {
			set.namespaces = append(set.namespaces, key.Namespace())
		}
	}
	return set
}

// check returns what is wrong with an entry.
func (s keySet) check(entry Entry) error {
	key, ok := s.byName[entry.Key]
	if !ok {
		if text := s.unknown(entry.Key); text != "" {
			return refuse("%s", text)
		}
		return nil
	}
	if _, encrypted := entry.Value.(Ciphertext); encrypted || entry.Value == nil && !key.Required {
		return nil
	}
	return key.Validate(entry.Value)
}

// unknown returns what is wrong with an undeclared key, or "" if it may belong to another
// program.
func (s keySet) unknown(name string) string {
	namespace, rest, _ := strings.Cut(name, ":")
	if !slices.Contains(s.namespaces, namespace) {
		return s.unknownNamespace(namespace, name)
	}
	siblings := s.inNamespace(namespace)
	if near := nearest(rest, siblings); len(near) > 0 && distant(rest, near[0]) <= tolerance(rest) {
		meant := fmt.Sprintf("%q", namespace+":"+near[0])
		for _, other := range near[1:min(3, len(near))] { // as near as the first one
			if distant(rest, other) == distant(rest, near[0]) {
				meant += fmt.Sprintf(" or %q", namespace+":"+other)
			}
		}
		return fmt.Sprintf("is read by no project; did you mean %s?", meant)
	}
	if slices.Contains(s.plugins, namespace) {
		return ""
	}
	const most = 6
	if len(siblings) > most+1 {
		siblings = nearest(rest, siblings)
	}
	return fmt.Sprintf("is read by no project; in %s there are: %s", namespace, few(siblings, most))
}

// unknownNamespace suspects a typing error only if the near namespace has the rest of the key:
// "esk:min_size", but not "ecs:cluster".
func (s keySet) unknownNamespace(namespace, name string) string {
	if slices.Contains(s.plugins, namespace) {
		return ""
	}
	near := Suggest(namespace, s.namespaces)
	if near == "" {
		return ""
	}
	meant := near + strings.TrimPrefix(name, namespace)
	if _, ok := s.byName[meant]; !ok {
		return ""
	}
	return fmt.Sprintf("is read by no project; did you mean %q?", meant)
}

// inNamespace returns the names of a namespace's keys, without the namespace.
func (s keySet) inNamespace(namespace string) []string {
	var names []string
	for _, name := range s.names {
		if rest, ok := strings.CutPrefix(name, namespace+":"); ok {
			names = append(names, rest)
		}
	}
	return names
}

// PluginNamespaces returns the namespaces in which Pulumi and its plugins read settings: those
// available to every environment, and those of the declared keys that a plugin reads.
func PluginNamespaces(declared []Key) []string {
	names := []string{"command", "docker", "kubernetes", "pulumi", "random", "tls"}
	for _, key := range declared {
		if key.OfPlugin && !slices.Contains(names, key.Namespace()) {
			names = append(names, key.Namespace())
		}
	}
	return names
}
