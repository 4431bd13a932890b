package simulated

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/contract"
	"mara/runner/internal/feature/simulate"
)

// takeUnknown returns the packages so that they answer, without checks, also types and functions that no schema has. A
// program in YAML sees them in a schema that is made of what such programs write and read.
func takeUnknown(projects []model.Project, packages []simulate.Package, found []unjudged) []simulate.Package {
	packages = slices.Clone(packages)
	for i := range packages {
		packages[i].TakesUnknown = packages[i].IsPartial()
	}
	shapes := shapesOf(projects, found)
	byPackage := map[string][]*shape{}
	for _, token := range slices.Sorted(maps.Keys(shapes)) {
		name, _, _ := strings.Cut(token, ":")
		byPackage[name] = append(byPackage[name], shapes[token])
	}
	for name, shapes := range byPackage {
		pkg := packageIn(&packages, name)
		pkg.TakesUnknown = true
		pkg.Resources, pkg.Invokes = slices.Clone(pkg.Resources), slices.Clone(pkg.Invokes)
		for _, s := range shapes {
			if s.function {
				pkg.Invokes = append(pkg.Invokes, s.invoke())
			} else {
				pkg.Resources = append(pkg.Resources, s.resource())
			}
		}
		pkg.Shown = shownWith(*pkg, shapes)
	}
	return packages
}

// notJudged returns a warning for each use of a type that no schema has.
func notJudged(found []unjudged) []string {
	return lists.Map(found, func(f unjudged) string { return "not judged, with its inputs as outputs: " + f.text })
}

// warnOnce returns the function that warns, once, of each type of which no warning was given before the run: those of
// programs in other languages than YAML.
func (o Options) warnOnce(found []usedType, text func(token string) string) func(token string) {
	var mu sync.Mutex
	warned := map[string]bool{}
	for _, f := range found {
		warned[tokenOf(f.token)] = true
	}
	return func(token string) {
		mu.Lock()
		defer mu.Unlock()
		if !warned[token] && o.Warn != nil {
			o.Warn(text(token))
		}
		warned[token] = true
	}
}

// tokenOf returns a token in full, as programs in YAML may write it shorter.
func tokenOf(token string) string {
	if pkg, name, ok := strings.Cut(token, ":"); ok && !strings.Contains(name, ":") {
		return pkg + ":index:" + name
	}
	return token
}

// shape is what programs write to a type or a function, and read of it.
type shape struct {
	token    string
	function bool
	written  map[string]bool
	read     fields
}

// fields are the names below a value that programs read; nil if they read the value itself.
type fields map[string]fields

func (f fields) add(path []string) {
	below := f[path[0]]
	if below == nil && len(path) > 1 {
		below = fields{}
	}
	f[path[0]] = below
	if len(path) > 1 {
		below.add(path[1:])
	}
}

// shapesOf returns the shapes of what no schema has, by token.
func shapesOf(projects []model.Project, found []unjudged) map[string]*shape {
	shapes := map[string]*shape{}
	for _, f := range found {
		token := tokenOf(f.token)
		shapes[token] = &shape{token: token, function: f.kind == functions, written: map[string]bool{}, read: fields{}}
	}
	for _, project := range projects {
		source, err := contract.ReadSource(project.Own.Dir, project.Own.Path)
		if err != nil || source.Root == nil {
			continue
		}
		for _, use := range source.Uses() {
			s := shapes[tokenOf(use.Token)]
			if s == nil || s.function != use.Function {
				continue
			}
			for _, name := range use.Written {
				s.written[name] = true
			}
			for _, path := range use.Read {
				if s.function || path[0] != "id" && path[0] != "urn" {
					s.read.add(path)
				}
			}
		}
	}
	return shapes
}

// resource describes a type of resources by what programs read: what they write is shown already.
func (s *shape) resource() simulate.Resource {
	described := simulate.Ordinary(s.token)
	described.Outputs = func(o simulate.Object) map[string]any { return s.read.made(o, o.Inputs(), "") }
	return described
}

func (s *shape) invoke() simulate.Invoke {
	return simulate.Invoke{Token: s.token, Answer: func(o simulate.Object) (map[string]any, error) {
		return s.read.made(o, o.Inputs(), ""), nil
	}}
}

// made makes values for what is read and not there.
func (f fields) made(o simulate.Object, given map[string]any, path string) map[string]any {
	values := map[string]any{}
	for name, below := range f {
		there, ok := given[name]
		inner, isMap := there.(map[string]any)
		switch {
		case ok && (!isMap || below == nil):
		case below.isList():
			values[name] = []any{below.item(o, path+name)}
		case below != nil:
			values[name] = below.made(o, inner, path+name+".")
		default:
			values[name] = "simulated-" + o.Hex(path+name, 12)
		}
	}
	return values
}

// isList reports whether numbers are read below a value.
func (f fields) isList() bool {
	for name := range f {
		if _, err := strconv.Atoi(name); err == nil {
			return true
		}
	}
	return false
}

// item makes an element of a list, which has what is read of any of them.
func (f fields) item(o simulate.Object, path string) any {
	all := fields{}
	for _, below := range f {
		maps.Copy(all, below)
	}
	if len(all) == 0 {
		return "simulated-" + o.Hex(path, 12)
	}
	return all.made(o, nil, path+".")
}

// anyValue is the type of a value of which nothing is known.
var anyValue = map[string]string{"$ref": "pulumi.json#/Any"}

// shownWith returns the largest schema of a package with what the shapes tell.
func shownWith(pkg simulate.Package, shapes []*shape) []byte {
	whole := map[string]json.RawMessage{}
	for _, text := range pkg.Schemas {
		if len(whole) == 0 {
			_ = json.Unmarshal(text, &whole) // the simulation reports a bad one
		}
	}
	whole["name"] = encoded(pkg.Name)
	of := map[string]map[string]json.RawMessage{resources: {}, functions: {}}
	for kind, entries := range of {
		_ = json.Unmarshal(whole[kind], &entries)
		of[kind] = entries
	}
	for _, s := range shapes {
		written, read := map[string]any{}, map[string]any{}
		for name := range s.written {
			written[name], read[name] = anyValue, anyValue
		}
		for name := range s.read {
			read[name] = anyValue
		}
		if s.function {
			of[functions][s.token] = encoded(map[string]any{
				"inputs":  map[string]any{"type": "object", "properties": written},
				"outputs": map[string]any{"type": "object", "properties": read},
			})
			continue
		}
		of[resources][s.token] = encoded(map[string]any{"inputProperties": written, "properties": read})
	}
	for kind, entries := range of {
		whole[kind] = encoded(entries)
	}
	return encoded(whole)
}

// encoded returns JSON of values that have one.
func encoded(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a schema: %v", err))
	}
	return text
}
