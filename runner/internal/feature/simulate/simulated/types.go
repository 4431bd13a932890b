package simulated

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/machine/failure"
)

// tokenPattern matches the type of a resource, or the name of a function.
const tokenPattern = `([a-z][a-z0-9-]*(?::[A-Za-z][\w./-]*){1,2})`

var (
	// resourceType is the type of a resource in a program in YAML.
	resourceType = regexp.MustCompile(`^\s*type:\s*["']?` + tokenPattern + `["']?\s*(?:#.*)?$`)
	// calledFunction is a function that a program in YAML calls, in either way to write it.
	calledFunction = regexp.MustCompile(`(?:\bfn::|(?:^|[\s{,])["']?[fF]unction["']?:\s*["']?)` + tokenPattern)
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

// checkTypes returns an error for programs in YAML with resource types and functions that no schema has. Pulumi's
// own error would call them unknown, as if the user had misspelled them.
func checkTypes(projects []model.Project, packages []simulate.Package) error {
	var problems []string
	lacking := map[string]bool{}
	known := map[[2]string][]string{} // by package and kind
	for _, project := range projects {
		for _, used := range typesIn(project.Own) {
			name, _, _ := strings.Cut(used.token, ":")
			pkg, ok := lists.Find(packages, func(p simulate.Package) bool { return p.Name == name })
			text := ": " + used.token
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
				text += fmt.Sprintf(" is none of the %d %s of %s that the simulation knows%s",
					len(known[key]), kindNames()[used.kind], name, config.DidYouMean(used.token, known[key]))
			}
			problems = append(problems, used.place+text)
			lacking[name] = true
		}
	}
	if len(problems) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(lacking))
	text := fmt.Sprintf("a program in YAML needs the whole schema of each package, and there is none of %s:\n  ",
		strings.Join(names, ", "))
	return &failure.Environment{Text: text + strings.Join(problems, "\n  "), Next: simulate.WaysToSchema(names[0])}
}

// usedType is a type or a function, and the file and line where a program names it.
type usedType struct{ kind, token, place string }

// typesIn lists the types of resources and the functions in a program in YAML, without Pulumi's own.
func typesIn(project *model.Own) (found []usedType) {
	for _, file := range []string{"Pulumi.yaml", "Main.yaml"} {
		text, _ := files.Read(filepath.Join(project.Dir, file), files.Text) // Pulumi reports an unreadable file
		for i, line := range strings.Split(string(text), "\n") {
			place := fmt.Sprintf("%s:%d", filepath.Join(project.Path, file), i+1)
			add := func(kind string, pattern *regexp.Regexp) {
				for _, match := range pattern.FindAllStringSubmatch(line, -1) {
					if !strings.HasPrefix(match[1], "pulumi:") {
						found = append(found, usedType{kind, match[1], place})
					}
				}
			}
			add(resources, resourceType)
			add(functions, calledFunction)
		}
	}
	return found
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

// hasToken reports whether a package has a token, which YAML may write shorter: aws:s3:Bucket for
// aws:s3/bucket:Bucket, and random:RandomPassword for random:index/randomPassword:RandomPassword.
func hasToken(p simulate.Package, types []string, token string) bool {
	parts := strings.Split(token, ":")
	if len(parts) == 2 {
		parts = []string{parts[0], "index", parts[1]}
	}
	first, size := utf8.DecodeRuneInString(parts[2])
	long := fmt.Sprintf("%s:%s/%c%s:%s", parts[0], parts[1], unicode.ToLower(first), parts[2][size:], parts[2])
	for _, candidate := range []string{token, strings.Join(parts, ":"), long} {
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
