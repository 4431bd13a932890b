package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// EnvironmentsDir has a file for each environment that is described, below
// the root; LayersDir has the layers that such files import.
const (
	EnvironmentsDir = "config/environments"
	LayersDir       = "config/layers"
)

// The runner's own keys.
const (
	ProtectKey = "runner:protect" // refuses to destroy the environment
	TTLKey     = "runner:ttl"     // lifetime of the environment
	// UseContextKey makes the environment's context the current one of kubectl.
	UseContextKey = "runner:use_context"
)

// DescriptionPath returns the path of the file that describes an environment, below the root.
func DescriptionPath(stack string) string { return EnvironmentsDir + "/" + stack + ".yaml" }

// Description is what config/environments/<stack>.yaml says, with the layers it
// imports. Package layers reads it. The zero Description is that of an
// environment without such a file.
type Description struct {
	File    string   // as shown; "" without such a file
	Layers  []string // files it imports, directly or not, in order
	Entries []Entry  // the configuration, sorted by key
	Backend Value    // location of the state, if it names one
	Labels  map[string]Value
	Skip    []Value // skipped projects
}

// Place is an overridden value with its position.
type Place struct {
	Value any
	File  string
	Line  int
}

// Over merges the file over a description: values of the file win, maps are merged, and null
// in the file unsets a key. Own returns the file on disk.
func (f StackFile) Over(d Description) (StackFile, error) {
	if len(d.Entries) == 0 {
		return f, nil
	}
	merged := f
	merged.Entries, merged.own, merged.described = slices.Clone(f.Entries), &f, true
	var problems []Problem
	var changed []Entry
	for _, lower := range d.Entries {
		i := slices.IndexFunc(merged.Entries, func(e Entry) bool { return e.Key == lower.Key })
		if i < 0 {
			merged.Entries = append(merged.Entries, lower)
			changed = append(changed, lower)
			continue
		}
		upper := &merged.Entries[i]
		if text := checkKinds(upper.Value, lower.Value); text != "" {
			text = fmt.Sprintf("%s of %s:%d", text, lower.File, lower.Line)
			problems = append(problems, Problem{File: f.File, Line: upper.Line, Key: upper.Key, Text: text})
			continue
		}
		upper.Over = append([]Place{{Value: lower.Value, File: lower.File, Line: lower.Line}}, lower.Over...)
		if inner, isMap := upper.Value.(map[string]any); isMap {
			upper.Value = mergeMaps(inner, lower.Value)
			changed = append(changed, *upper)
		}
	}
	if len(problems) > 0 {
		return f, problemsError(problems...)
	}
	return merged.withContent(changed)
}

// withContent returns the file with some entries in its content, for the copies that Pulumi reads.
func (f StackFile) withContent(entries []Entry) (StackFile, error) {
	document, err := f.Document()
	if err != nil {
		return f, err
	}
	for _, entry := range entries {
		var value yaml.Node
		if err := value.Encode(entry.Value); err != nil {
			return f, err
		}
		SetChild(document.Config(), entry.Key, &value)
	}
	f.Content, err = document.Bytes()
	return f, err
}

// Own returns the file as it is on disk, without layers. Edits go there.
func (f StackFile) Own() StackFile {
	if f.own == nil {
		return f
	}
	return *f.own
}

// misnamed returns a problem for a file whose name ends in .yml, which Pulumi does not read.
func misnamed(directory string, entry os.DirEntry) (Problem, bool) {
	name, ok := strings.CutSuffix(entry.Name(), ".yml")
	if !ok || entry.IsDir() || strings.HasPrefix(name, ".") {
		return Problem{}, false
	}
	text := "is not read, because its name ends in .yml; rename it to " + name + ".yaml"
	return Problem{File: directory + "/" + entry.Name(), Text: text}, true
}

// Described reports whether layers contribute to the values.
func (f StackFile) Described() bool { return f.described }

// checkKinds returns what is wrong if one of the values is a map and the other is not: the
// lower one would be lost. It returns "" otherwise.
func checkKinds(upper, lower any) string {
	if upper == nil || lower == nil {
		return ""
	}
	_, upperIsMap := upper.(map[string]any)
	_, lowerIsMap := lower.(map[string]any)
	switch {
	case lowerIsMap && !upperIsMap:
		return fmt.Sprintf("is %s, and replaces the map", describe(upper))
	case upperIsMap && !lowerIsMap:
		return fmt.Sprintf("is a map, and replaces %s", describe(lower))
	}
	return ""
}

// mergeMaps merges a map over another one; null deletes a key.
func mergeMaps(upper map[string]any, lower any) map[string]any {
	below, _ := lower.(map[string]any)
	merged := make(map[string]any, len(upper)+len(below))
	maps.Copy(merged, below)
	for key, value := range upper {
		inner, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(merged, key)
		case isMap:
			merged[key] = mergeMaps(inner, merged[key])
		default:
			merged[key] = value
		}
	}
	return merged
}

// Protected returns the origin of the protection against destroy; it is not set if the
// environment is not protected.
func (f StackFile) Protected() Origin {
	if !f.IsTrue(ProtectKey) {
		return Origin{}
	}
	entry, _ := f.Lookup(ProtectKey)
	return f.Origin(entry)
}

// IsTrue reports whether a key is set to true.
func (f StackFile) IsTrue(key string) bool {
	entry, ok := f.Lookup(key)
	return ok && strings.EqualFold(fmt.Sprint(entry.Value), "true")
}

// TTL returns the lifetime of the environment, or 0 if it has none. The error is a *Error for one that is no duration
// greater than 0: what cannot be read is not the absence of a limit.
func (f StackFile) TTL() (time.Duration, Origin, error) {
	entry, ok := f.Lookup(TTLKey)
	if !ok {
		return 0, Origin{}, nil
	}
	text, isText := entry.Value.(string)
	ttl, err := time.ParseDuration(text)
	if !isText || err != nil || ttl <= 0 {
		return 0, Origin{}, &Error{Problems: []Problem{
			f.Problem(TTLKey, fmt.Sprintf("%v is not a duration greater than 0, such as 8h or 90m", entry.Value)),
		}}
	}
	return ttl, f.Origin(entry), nil
}

// Described lists the environments that have a description below the root.
func Described(root string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, EnvironmentsDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fileError(EnvironmentsDir, err)
	}
	var names []string
	var problems []Problem
	for _, entry := range entries {
		name, isYAML := strings.CutSuffix(entry.Name(), ".yaml")
		if p, ok := misnamed(EnvironmentsDir, entry); ok {
			problems = append(problems, p)
		}
		if entry.IsDir() || !isYAML || strings.HasPrefix(name, ".") {
			continue
		}
		if err := CheckStackName(name); err != nil {
			file := EnvironmentsDir + "/" + entry.Name()
			problems = append(problems, Problem{File: file, Text: "is not named after a stack: " + err.Error()})
			continue
		}
		names = append(names, name)
	}
	return names, problemsError(problems...)
}
