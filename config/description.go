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
)

// EnvironmentsFolder has a file for each environment that is described, below
// the root; LayersFolder has the layers that such files import.
const (
	EnvironmentsFolder = "config/environments"
	LayersFolder       = "config/layers"
)

// The runner's own keys.
const (
	ProtectKey = "runner:protect" // refuses to destroy the environment
	TTLKey     = "runner:ttl"     // how long the environment is meant to live
)

// DescriptionPath is the file that describes an environment, below the root.
func DescriptionPath(stack string) string { return EnvironmentsFolder + "/" + stack + ".yaml" }

// Description is what config/environments/<stack>.yaml says, with the layers it
// imports. Package layers reads it. The zero Description is that of an
// environment without such a file.
type Description struct {
	File    string   // as shown; "" when there is none
	Layers  []string // the files that it imports, also by way of others, in order
	Entries []Entry  // the configuration, sorted by key
	Backend Value    // where the state is kept; not set when nothing says so
	Labels  map[string]Value
	Skip    []Value // projects that are left out
}

// Place is a value that another one overrides.
type Place struct {
	Value any
	File  string
	Line  int
}

// Over is the file over a description: values of the file win, maps are merged,
// and a key that is null in the file is not set. The file that is on disk stays
// within reach; see Own.
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
		if text := replaces(upper.Value, lower.Value); text != "" {
			problems = append(problems, Problem{File: f.File, Line: upper.Line, Key: upper.Key, Text: fmt.Sprintf("%s of %s:%d", text, lower.File, lower.Line)})
			continue
		}
		upper.Over = append([]Place{{Value: lower.Value, File: lower.File, Line: lower.Line}}, lower.Over...)
		if inner, isMap := upper.Value.(map[string]any); isMap {
			upper.Value = mergeMaps(inner, lower.Value)
			changed = append(changed, *upper)
		}
	}
	if len(problems) > 0 {
		return f, problemsError(problems)
	}
	var err error
	merged.Content, err = compose(f.File, f.Content, changed)
	return merged, err
}

// Own is the file as it is on disk, without what layers say: what is written
// goes there.
func (f StackFile) Own() StackFile {
	if f.own == nil {
		return f
	}
	return *f.own
}

// misnamed returns a problem for a file whose name ends in .yml: it is not read.
func misnamed(folder string, entry os.DirEntry) (Problem, bool) {
	name, ok := strings.CutSuffix(entry.Name(), ".yml")
	if !ok || entry.IsDir() || strings.HasPrefix(name, ".") {
		return Problem{}, false
	}
	return Problem{File: folder + "/" + entry.Name(), Text: "is not read, because its name ends in .yml; rename it to " + name + ".yaml"}, true
}

// Described says whether layers have a part in the values.
func (f StackFile) Described() bool { return f.described }

// replaces is what is wrong with a value in the place of another, or "": a map
// and a text in one place are a mistake, for one of the two is read by nobody.
func replaces(upper, lower any) string {
	if upper == nil || lower == nil {
		return ""
	}
	_, upperIsMap := upper.(map[string]any)
	_, lowerIsMap := lower.(map[string]any)
	switch {
	case lowerIsMap && !upperIsMap:
		return fmt.Sprintf("is %s, and takes the place of the map", describe(upper))
	case upperIsMap && !lowerIsMap:
		return fmt.Sprintf("is a map, and takes the place of %s", describe(lower))
	}
	return ""
}

// mergeMaps is a map over another one: null takes a key away.
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

// Protected is where the environment is protected from being destroyed; not set
// when it is not.
func (f StackFile) Protected() Origin {
	entry, ok := f.Lookup(ProtectKey)
	if !ok || !strings.EqualFold(fmt.Sprint(entry.Value), "true") {
		return Origin{}
	}
	return f.Origin(entry)
}

// TTL is how long the environment is meant to live; 0 is for ever.
func (f StackFile) TTL() (time.Duration, Origin) {
	entry, ok := f.Lookup(TTLKey)
	text, _ := entry.Value.(string)
	ttl, err := time.ParseDuration(text)
	if !ok || err != nil {
		return 0, Origin{}
	}
	return ttl, f.Origin(entry)
}

// Described lists the environments that have a description below the root.
func Described(root string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, EnvironmentsFolder))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fileError(EnvironmentsFolder, err)
	}
	var names []string
	var problems []Problem
	for _, entry := range entries {
		name, isYAML := strings.CutSuffix(entry.Name(), ".yaml")
		if p, ok := misnamed(EnvironmentsFolder, entry); ok {
			problems = append(problems, p)
		}
		if entry.IsDir() || !isYAML || strings.HasPrefix(name, ".") {
			continue
		}
		if err := CheckStackName(name); err != nil {
			problems = append(problems, Problem{File: EnvironmentsFolder + "/" + entry.Name(), Text: "is not named after a stack: " + err.Error()})
			continue
		}
		names = append(names, name)
	}
	return names, problemsError(problems)
}
