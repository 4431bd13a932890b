package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/layers"
	"mara/runner/internal/core/request"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// Values is the configuration of an environment: every value with its origin, secrets hidden.
type Values struct {
	Root, Stack string
	File        config.StackFile
	Sources     config.Sources
	Provider    config.Value // may be unset
	Known       catalogue.Catalogue
	Declared    []config.Key                // of all projects, and the runner's own
	Beside      map[string]config.StackFile // stack files in the directories of own projects
	Answers     []config.Answer             // of a cluster that is there already
	Imported    map[string]Layer            // of environments of Pulumi ESC, by key
}

// OpenValues reads the stack file, which may be missing: `config set` creates it.
func OpenValues(o request.Request) (Values, error) {
	if o.Root == "" {
		return Values{}, o.NoRoot
	}
	settings, err := config.Resolve(config.Request{
		Root: o.Root, Stack: o.Stack, Provider: o.Provider, Sources: o.Sources, Describe: layers.Read,
	})
	if err != nil {
		return Values{}, err
	}
	c := Values{
		Root: o.Root, Stack: settings.Stack.Text, File: hidden(settings.Config, o.Known()), Sources: o.Sources,
		Provider: settings.Provider,
		Known:    o.Known(), Declared: o.DeclaredKeys(), Beside: map[string]config.StackFile{},
	}
	for _, project := range c.Known.Projects {
		file, err := catalogue.Beside(o.Root, c.Stack, project)
		if err != nil {
			return c, err
		}
		if file.Exists {
			c.Beside[project.Name] = hidden(file, c.Known)
		}
	}
	c.Provider, err = o.ProviderToLook(layout.Of(o.Root, false), c.Stack, settings.Provider)
	return c, err
}

// FileOf returns the stack file in a project's directory that sets a key, if there is one. It
// overrides the shared file.
func (c Values) FileOf(key string) (project string, file config.StackFile, ok bool) {
	for _, readsIt := range []bool{true, false} { // a file may have a key of another namespace, as aws:region
		for _, project := range c.Known.Projects {
			_, declared := project.Key(key)
			file := c.Beside[project.Name]
			if entry, there := file.Lookup(key); (declared || isOf(key, project)) == readsIt && there && entry.Value != nil {
				return project.Name, file, true
			}
		}
	}
	return "", config.StackFile{}, false
}

// isOf reports whether a key has the namespace of a project.
func isOf(key string, project model.Project) bool { return strings.HasPrefix(key, project.Name+":") }

func hasOwnFiles(p model.Project) bool { return p.Own != nil && p.Own.StackFiles != "" }

// PlaceOf returns the file that a value of a key belongs into: the one that sets it, else the stack file next to the
// project whose namespace the key has, or which alone declares it, and else the shared one. Where all projects have
// stack files of their own, Pulumi never reads a shared one: keys of other namespaces need a project's name there.
func (c Values) PlaceOf(key string) (config.StackFile, error) {
	project, file, isOwn := c.FileOf(key)
	owner, ok := lists.Find(c.Known.Projects, func(p model.Project) bool { return isOf(key, p) })
	if isOwn && (!ok || project == owner.Name || !hasOwnFiles(owner)) {
		return file, nil
	}
	_, shared := c.File.Lookup(key)
	if !ok {
		readers := slices.DeleteFunc(slices.Clone(c.Known.Projects), func(project model.Project) bool {
			_, reads := project.Key(key)
			return !reads
		})
		if ok = len(readers) == 1; ok {
			owner = readers[0]
		}
	}
	switch {
	case shared || ok && !hasOwnFiles(owner):
		return c.File, nil
	case ok:
		return catalogue.Beside(c.Root, c.Stack, owner)
	}
	if _, declared := c.Key(key); !declared && c.onlyOwnFiles() {
		return config.StackFile{}, &failure.Usage{
			Text: fmt.Sprintf("%s belongs to no project of %s, and every project has stack files of its own", key, c.Known.File),
			Next: "set it for each project that needs it: `runner pulumi PROJECT -s " + c.Stack + " -- config set " + key +
				" VALUE`",
		}
	}
	return c.File, nil
}

// onlyOwnFiles reports whether every project has stack files of its own.
func (c Values) onlyOwnFiles() bool {
	return len(c.Known.Projects) > 0 && !slices.ContainsFunc(c.Known.Projects, func(p model.Project) bool {
		return !hasOwnFiles(p)
	})
}

// hidden returns a stack file with the values of all secrets hidden, even plain ones.
func hidden(file config.StackFile, known catalogue.Catalogue) config.StackFile {
	file.Entries = slices.Clone(file.Entries)
	for i, entry := range file.Entries {
		if _, isSecret := known.Secret(entry.Key); isSecret || known.BuiltIn.CredentialVariable(entry.Key) != "" {
			file.Entries[i].Value = config.Ciphertext("hidden")
			file.Entries[i].Over = slices.Clone(entry.Over)
			for j := range entry.Over {
				file.Entries[i].Over[j].Value = config.Ciphertext("hidden")
			}
		}
	}
	return file
}

// Show formats a value on one line, without credentials in URLs.
func Show(value any) string { return event.MaskURLs(config.Show(value)) }

// Redacted returns a value without its encrypted parts and without credentials in URLs.
func Redacted(value any) any { return config.Redacted(value, event.MaskURLs) }

// Key finds a declared key. For an undeclared one it returns a key with only the name.
func (c Values) Key(name string) (config.Key, bool) {
	key, ok := lists.Find(c.Declared, func(key config.Key) bool { return key.Name == name })
	key.Name = name
	return key, ok
}

// planned returns the keys that the provider's projects and the runner read, or all.
func (c Values) planned() []config.Key {
	provider, err := c.Known.ByName(c.Provider.Text)
	if err != nil {
		return c.Declared
	}
	read := map[string]bool{
		config.ProtectKey: true, config.TTLKey: true, config.UseContextKey: true, config.AcceptKey: true,
	}
	for _, step := range provider.Steps {
		for _, key := range step.Project.Keys {
			read[key.Name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(c.Declared), func(key config.Key) bool { return !read[key.Name] })
}

// Layer is the value of a key in one place.
type Layer struct {
	Value  any
	Origin config.Origin
}

// Layers returns all values of a key, the effective one first.
func (c Values) Layers(key config.Key) []Layer {
	var layers []Layer
	add := func(v config.Value) {
		if v.IsSet() {
			layers = append(layers, Layer{v.Text, v.Origin})
		}
	}
	if _, file, ok := c.FileOf(key.Name); ok {
		entry, _ := file.Lookup(key.Name)
		layers = append(layers, Layer{entry.Value, file.Origin(entry)})
	}
	if entry, ok := c.File.Lookup(key.Name); ok && entry.Value != nil {
		layers = append(layers, Layer{entry.Value, c.File.Origin(entry)})
		for _, over := range entry.Over {
			origin := config.Origin{Source: config.FromLayer, Name: key.Name, File: over.File, Line: over.Line}
			layers = append(layers, Layer{over.Value, origin})
		}
	} else if key.Name == config.InfraType {
		add(c.Provider)
	}
	if imported, ok := c.Imported[key.Name]; ok {
		layers = append(layers, imported)
	}
	for _, answer := range c.Answers {
		if answer.Key == key.Name && len(layers) == 0 {
			layers = append(layers, Layer{answer.Value, config.Origin{Source: config.FromCluster, Name: answer.Why}})
		}
	}
	add(key.Set(c.Sources))
	if key.Default != nil {
		layers = append(layers, Layer{key.Default, config.Origin{Source: config.FromDefault}})
	}
	return layers
}

// Value is the JSON form of a key with its value.
type Value struct {
	Key     string `json:"key"`
	Value   any    `json:"value"`            // null if not set
	Origin  string `json:"origin,omitempty"` // where the value comes from
	File    string `json:"file,omitempty"`   // file that sets it
	Line    int    `json:"line,omitempty"`
	Missing bool   `json:"missing,omitempty"` // required, but not set
	Place   string `json:"-"`                 // origin as part of a sentence
}

// NewValue returns the value of a key.
func NewValue(key string, l Layer) Value {
	place := l.Origin.String()
	if l.Origin.Source == config.FromStackConfig || l.Origin.Source == config.FromLayer {
		place = fmt.Sprintf("%s:%d", l.Origin.File, l.Origin.Line)
	}
	return Value{
		Key: key, Value: Redacted(l.Value),
		Origin: string(l.Origin.Source), File: l.Origin.File, Line: l.Origin.Line, Place: place,
	}
}

// List returns the values of the declared keys in the order of the projects, then the
// values of other keys in the file, and how many keys it skipped.
func (c Values) List(all bool) (values []Value, hidden int) {
	values = []Value{}
	for _, key := range c.Listed() {
		layers := c.Layers(key)
		switch {
		case len(layers) > 0 && (all || layers[0].Origin.Source != config.FromDefault):
			values = append(values, NewValue(key.Name, layers[0]))
		case len(layers) == 0 && (all || key.Required):
			values = append(values, Value{Key: key.Name, Missing: key.Required})
		default:
			hidden++
		}
	}
	return values, hidden
}

// Listed returns the keys of the provider's projects and the keys in the files.
func (c Values) Listed() []config.Key {
	keys := c.planned()
	files := []config.StackFile{c.File}
	for _, project := range c.Known.Projects {
		files = append(files, c.Beside[project.Name])
	}
	for _, file := range files {
		for _, entry := range file.Entries {
			if !slices.ContainsFunc(keys, func(key config.Key) bool { return key.Name == entry.Key }) {
				keys = append(keys, config.Key{Name: entry.Key})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Imported)) {
		if !slices.ContainsFunc(keys, func(key config.Key) bool { return key.Name == name }) {
			keys = append(keys, config.Key{Name: name})
		}
	}
	return keys
}

// Shown returns a value with its place.
func (v Value) Shown() string {
	switch {
	case v.Missing:
		return "missing"
	case v.Origin == "":
		return "not set"
	}
	return fmt.Sprintf("%s (%s)", Show(v.Value), v.Place)
}

// OrDash returns a value with its place, or "-".
func (v Value) OrDash() string {
	if v.Origin == "" {
		return "-"
	}
	return v.Shown()
}
