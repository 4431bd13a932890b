package render

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Placeholder is a value that a simulated cloud generated.
type Placeholder struct {
	Object string `json:"object"`
	Path   string `json:"path"`
	From   string `json:"from"` // project.output, if known
}

// imagined matches reserved names and addresses, which only simulated clouds return.
var imagined = regexp.MustCompile(`\.simulated\.invalid|\b(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d`)

// TracePlaceholders records values in the objects that are, or contain, a generated output
// of a project with cloud resources. An output that repeats an input of the program, such
// as a name, is not generated.
func (m *Manifests) TracePlaceholders(resources []Resource, outputs func(project string) map[string]any) {
	given, outside := map[string]bool{}, map[string]bool{}
	for _, r := range resources {
		if !r.isKubernetes() {
			outside[r.Project] = true
			eachText(r.Inputs, "", func(_, text string) { given[text] = true })
		}
	}
	made := map[string]string{} // value -> project.output
	for _, project := range slices.Sorted(maps.Keys(outside)) {
		values := outputs(project)
		for _, output := range slices.Sorted(maps.Keys(values)) {
			eachText(values[output], "", func(_, text string) {
				const tooShort = 6 // to be sure that it is the same value
				if len(text) >= tooShort && !given[text] && text != Secret && made[text] == "" {
					made[text] = project + "." + output
				}
			})
		}
	}
	for i := range m.Projects {
		p := &m.Projects[i]
		for _, o := range p.Objects {
			eachText(map[string]any(o.Content), "", func(path, text string) {
				if from := sourceOf(text, made); from != "" {
					p.Placeholders = append(p.Placeholders, Placeholder{Object: o.Content.String(), Path: path, From: from})
				}
			})
		}
	}
}

// sourceOf returns the output with the longest value that the text contains, or "" if the
// text contains no placeholder.
func sourceOf(text string, made map[string]string) string {
	best := ""
	for value := range made {
		if strings.Contains(text, value) && len(value) > len(best) {
			best = value
		}
	}
	if best == "" && imagined.MatchString(text) {
		return "a simulated cloud"
	}
	return made[best]
}

// eachText visits all strings in a value, ordered by key.
func eachText(value any, path string, visit func(path, text string)) {
	switch value := value.(type) {
	case string:
		visit(path, value)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			eachText(value[name], strings.TrimPrefix(path+"."+name, "."), visit)
		}
	case []any:
		for i, item := range value {
			eachText(item, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	}
}
