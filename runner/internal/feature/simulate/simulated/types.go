package simulated

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/contract"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/machine/failure"
)

// A schema lists tokens by their kind.
const (
	resources = "resources"
	functions = "functions"
)

// kindNames names the kinds of tokens.
func kindNames() map[string]string {
	return map[string]string{resources: "types", functions: "functions"}
}

// unjudged is a type or a function of a program in YAML that no schema has.
type unjudged struct {
	usedType
	pkg   string
	text  string // what is wrong
	meant string // the end of a sentence: "; did you mean ...?", or ""
}

// checkTypes lists the types of resources and the functions of programs in YAML that no schema has, and the components
// of packages, which are simulated without what is in them.
func checkTypes(projects []model.Project, packages []simulate.Package) (found []unjudged, components []usedType) {
	known := map[[2]string][]string{} // by package and kind
	for _, project := range projects {
		for _, used := range typesIn(project.Own) {
			name, _, _ := strings.Cut(used.token, ":")
			pkg, ok := lists.Find(packages, func(p simulate.Package) bool { return p.Name == name })
			text, hint := ": "+used.token, ""
			if ok && used.kind == resources && isComponent(pkg, used.token) {
				components = append(components, used)
				continue
			}
			switch {
			case ok && len(pkg.Schemas) == 0:
			case !pkg.IsPartial(): // or no package of ours
				continue
			default:
				key := [2]string{name, used.kind}
				if known[key] == nil {
					known[key] = tokensOf(pkg, used.kind)
				}
				if hasToken(pkg, known[key], used.token) {
					continue
				}
				hint = meant(used.token, known[key])
				text += fmt.Sprintf(" is none of the %d %s of %s that the simulation knows%s",
					len(known[key]), kindNames()[used.kind], name, hint)
			}
			found = append(found, unjudged{used, name, used.place + text, hint})
		}
	}
	return found, components
}

// refusal returns the error for types that no schema has. Pulumi's own error would call them unknown, as if the user had
// misspelled them.
func refusal(found []unjudged) error {
	if len(found) == 0 {
		return nil
	}
	packages := map[string]bool{}
	for _, f := range found {
		packages[f.pkg] = true
	}
	names := slices.Sorted(maps.Keys(packages))
	text := fmt.Sprintf("a program in YAML needs the whole schema of each package, and the simulation has not that of "+
		"%s:\n  ", strings.Join(names, ", "))
	next := simulate.WaysToSchema(names[0]) + "; or rehearse without judging them: --simulate-unknown inputs"
	if !slices.ContainsFunc(found, func(f unjudged) bool { return f.meant == "" }) {
		text, next = "no schema at hand has what a program names:\n  ", "correct the names; if they are right, "+next
	}
	return &failure.Environment{
		Text: text + strings.Join(lists.Map(found, func(f unjudged) string { return f.text }), "\n  "), Next: next,
	}
}

// checkImports returns an error for programs in YAML that import resources: simulated clouds have only what was simulated.
func checkImports(projects []model.Project) error {
	var found []string
	for _, project := range projects {
		source, err := contract.ReadSource(project.Own.Dir, project.Own.Path)
		if err != nil || source.Root == nil {
			continue
		}
		for _, resource := range source.Imports() {
			found = append(found, fmt.Sprintf("%s:%d: the resource %s has the option import", source.File, resource.Line, resource.Name))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &failure.Environment{
		Text: "simulated clouds have only what was simulated, and nothing that could be imported:\n  " + strings.Join(found, "\n  "),
		Next: "leave the option out while you rehearse, or the project with --skip, or run its preview without --simulate",
	}
}

// usedType is a type or a function, and the file and line where a program names it.
type usedType struct{ kind, token, place string }

// typesIn lists the types of resources and the functions in a program in YAML, without Pulumi's own.
func typesIn(project *model.Own) (found []usedType) {
	source, err := contract.ReadSource(project.Dir, project.Path)
	if err != nil || source.Root == nil {
		return nil // Pulumi reports an unreadable file
	}
	types, called := source.Tokens()
	for kind, tokens := range map[string][]contract.Token{resources: types, functions: called} {
		for _, token := range tokens {
			found = append(found, usedType{kind, token.Name, fmt.Sprintf("%s:%d", source.File, token.Line)})
		}
	}
	slices.SortStableFunc(found, func(a, b usedType) int { return cmp.Compare(a.place, b.place) })
	return found
}

// meant returns the token that a misspelled one stands for, in the form in which that is written.
func meant(token string, known []string) string {
	isShort := strings.Count(token, "/") == 0
	for _, long := range known {
		parts := strings.Split(long, ":")
		module, _, isLong := strings.Cut(parts[min(1, len(parts)-1)], "/")
		switch {
		case len(parts) == 3 && isLong && isShort && strings.Count(token, ":") == 1 && module == "index":
			known = append(known, parts[0]+":"+parts[2])
		case len(parts) == 3 && isLong && isShort:
			known = append(known, parts[0]+":"+module+":"+parts[2])
		}
	}
	return config.DidYouMean(token, known)
}

// tokensOf lists the tokens of a kind in the schemas of a package.
func tokensOf(p simulate.Package, kind string) []string {
	all := map[string]bool{}
	for _, text := range p.Schemas {
		var schema map[string]json.RawMessage
		var of map[string]any
		_ = json.Unmarshal(text, &schema) // the simulation reports a bad one
		_ = json.Unmarshal(schema[kind], &of)
		for token := range of {
			all[token] = true
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(all))...) // not nil: it is known
}

// isComponent reports whether the schemas of a package say that a type is a component.
func isComponent(p simulate.Package, token string) bool {
	for _, text := range p.Schemas {
		if !bytes.Contains(text, []byte(`"isComponent"`)) { // most have none, and are large
			continue
		}
		var schema struct {
			Resources map[string]struct {
				IsComponent bool `json:"isComponent"`
			} `json:"resources"`
		}
		_ = json.Unmarshal(text, &schema) // the simulation reports a bad one
		for _, candidate := range spellings(token) {
			if schema.Resources[candidate].IsComponent {
				return true
			}
		}
	}
	return false
}

// hasToken reports whether a package has a token, which YAML may write shorter: aws:s3:Bucket for
// aws:s3/bucket:Bucket, and random:RandomPassword for random:index/randomPassword:RandomPassword.
func hasToken(p simulate.Package, types []string, token string) bool {
	for _, candidate := range spellings(token) {
		if slices.Contains(types, candidate) {
			return true
		}
	}
	if p.Dynamic == nil {
		return false
	}
	_, isCustom := p.Dynamic(token)
	return isCustom
}

// spellings returns the forms of a token that a schema may have.
func spellings(token string) []string {
	parts := strings.Split(token, ":")
	if len(parts) == 2 {
		parts = []string{parts[0], "index", parts[1]}
	}
	if len(parts) != 3 {
		return []string{token}
	}
	first, size := utf8.DecodeRuneInString(parts[2])
	long := fmt.Sprintf("%s:%s/%c%s:%s", parts[0], parts[1], unicode.ToLower(first), parts[2][size:], parts[2])
	return []string{token, strings.Join(parts, ":"), long}
}
