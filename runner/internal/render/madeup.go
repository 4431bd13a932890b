package render

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// MadeUp is a value that a simulated cloud has made up.
type MadeUp struct {
	Object string `json:"object"`
	Path   string `json:"path"`
	From   string `json:"from"` // project.output, where it is known
}

// imagined are names and addresses that only simulated clouds give: nobody has them.
var imagined = regexp.MustCompile(`\.simulated\.invalid|\b(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d`)

// TraceMadeUp finds values in the objects that are, or contain, an output of a
// project that makes something in a cloud: a simulated cloud has made them up.
// What a program gave to a cloud itself, such as a name, is not made up.
func (m *Manifests) TraceMadeUp(resources []Resource, outputs func(project string) map[string]any) {
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
					p.MadeUp = append(p.MadeUp, MadeUp{Object: o.Content.String(), Path: path, From: from})
				}
			})
		}
	}
}

// sourceOf is the output that a text contains, the longest one; "" for a text that is
// not made up.
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

// eachText visits all texts among values, in the order of their names.
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
