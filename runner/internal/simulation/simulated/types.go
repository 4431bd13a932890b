package simulated

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/simulation/simulate"
)

// resourceType is the type of a resource in a program in YAML.
var resourceType = regexp.MustCompile(`^\s*type:\s*["']?([a-z][a-z0-9-]*(?::[A-Za-z][\w./-]*){1,2})["']?\s*(?:#.*)?$`)

// checkTypes returns an error for programs in YAML with resource types that no schema has. Pulumi's
// own error would call them unknown, as if the user had misspelled them.
func checkTypes(projects []model.Project, packages []simulate.Package) error {
	var problems []string
	lacking, types := map[string]bool{}, map[string][]string{} // by package
	for _, project := range projects {
		for _, used := range typesIn(project.Own) {
			name, _, _ := strings.Cut(used.token, ":")
			at := slices.IndexFunc(packages, func(p simulate.Package) bool { return p.Name == name })
			if at < 0 {
				continue
			}
			text := ": " + used.token
			switch pkg := packages[at]; {
			case len(pkg.Schemas) == 0:
			case !pkg.IsPartial():
				continue
			default:
				if types[name] == nil {
					types[name] = typesOf(pkg)
				}
				if hasType(pkg, types[name], used.token) {
					continue
				}
				text += fmt.Sprintf(" is none of the %d types of %s that the simulation knows%s", len(types[name]), name,
					config.DidYouMean(used.token, types[name]))
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

// usedType is a type, and the file and line where a program names it.
type usedType struct{ token, place string }

// typesIn lists the types of resources in a program in YAML, without those of Pulumi itself.
func typesIn(project *model.Own) (found []usedType) {
	for _, file := range []string{"Pulumi.yaml", "Main.yaml"} {
		text, _ := os.ReadFile(filepath.Join(project.Dir, file)) // Pulumi reports an unreadable file
		for i, line := range strings.Split(string(text), "\n") {
			if match := resourceType.FindStringSubmatch(line); match != nil && !strings.HasPrefix(match[1], "pulumi:") {
				place := fmt.Sprintf("%s:%d", filepath.Join(project.Path, file), i+1)
				found = append(found, usedType{match[1], place})
			}
		}
	}
	return found
}

// typesOf lists the resource types in the schemas of a package.
func typesOf(p simulate.Package) []string {
	all := map[string]any{}
	for _, text := range p.Schemas {
		var schema struct{ Resources map[string]any }
		_ = json.Unmarshal(text, &schema) // the simulation reports a bad one
		maps.Copy(all, schema.Resources)
	}
	return slices.Sorted(maps.Keys(all))
}

// hasType reports whether a package has a type, which YAML may write shorter: aws:s3:Bucket for
// aws:s3/bucket:Bucket, and random:RandomPassword for random:index/randomPassword:RandomPassword.
func hasType(p simulate.Package, types []string, token string) bool {
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
