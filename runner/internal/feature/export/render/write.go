package render

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"mara/config/lists"
)

// About describes the environment of the manifests.
type About struct {
	Provider  string `json:"provider"`
	Stack     string `json:"stack"`
	Simulated bool   `json:"simulated"` // cloud values are placeholders
}

// Stream returns all objects as one YAML stream, in the order in which they can be applied.
func (m Manifests) Stream() ([]byte, error) {
	var b bytes.Buffer
	err := m.eachFile(func(file string, content []byte) { fmt.Fprintf(&b, "---\n# %s\n%s", file, content) })
	return b.Bytes(), err
}

// Files returns the files of a directory with all objects, by path.
func (m Manifests) Files(about About) (map[string][]byte, error) {
	files := map[string][]byte{"README.md": m.readme(about)}
	err := m.eachFile(func(file string, content []byte) { files[file] = content })
	return files, err
}

// eachFile visits the objects in the order in which they can be applied, each with its path and as YAML.
func (m Manifests) eachFile(visit func(file string, content []byte)) error {
	for _, p := range m.Projects {
		for _, o := range p.Objects {
			content, err := yaml.Marshal(o.Content)
			if err != nil {
				return err
			}
			visit(path.Join(p.Directory, o.File), content)
		}
	}
	return nil
}

// readme describes the directory and lists what is missing in it.
func (m Manifests) readme(about About) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Manifests of %s (%s)\n\n", about.Stack, about.Provider)
	b.WriteString("The objects that the projects would create in the cluster, in a directory per project. Apply them\n" +
		"in the order of their numbers, for example with `kubectl apply --server-side -R -f .`; repeat it\n" +
		"if a definition was not ready in time. `runner render` wrote these files and replaces them.\n\n" +
		"| directory | objects |\n|---|---|\n")
	for _, p := range m.Projects {
		fmt.Fprintf(&b, "| %s | %d |\n", p.Directory, len(p.Objects))
	}
	m.list(&b, "Jobs before a rollout", "Argo CD waits for them, by the annotation argocd.argoproj.io/sync-wave. kubectl and Flux "+
		"do not: apply the\nfiles up to 35, wait with `kubectl wait --for=condition=complete --timeout=10m`, and apply the others; "+
		"with Flux,\nmake a Kustomization of each part, the second with dependsOn.", Project.jobs)
	if len(m.Elsewhere) > 0 {
		fmt.Fprintf(&b, "\nNothing in the cluster: %s.\n", strings.Join(m.Elsewhere, ", "))
	}
	m.list(&b, "Skipped", "Create these yourself, or make sure that nothing needs them.", Project.skipped)
	if about.Simulated {
		m.list(&b, "Placeholders", "A simulated cloud generated these values. Replace them, or render a plan of the\n"+
			"deployed environment: `runner preview --save-plan FILE`, `runner render --plan FILE`.", Project.placeholders)
	}
	m.list(&b, "Different each time", "The chart generates a value whenever it is rendered.",
		func(p Project) []string { return p.Unsteady })
	return []byte(b.String())
}

// list adds a section with the lines of all projects, if there are any.
func (m Manifests) list(b *strings.Builder, title, text string, lines func(Project) []string) {
	first := true
	for _, p := range m.Projects {
		for _, line := range lines(p) {
			if first {
				fmt.Fprintf(b, "\n## %s\n\n%s\n\n", title, text)
				first = false
			}
			fmt.Fprintf(b, "- %s: %s\n", p.Directory, line)
		}
	}
}

// jobs lists the Jobs that come before workloads.
func (p Project) jobs() (lines []string) {
	for _, o := range p.Objects {
		if o.Kind == "Job" && o.Content.Text("metadata", "annotations", syncWave) != "" {
			lines = append(lines, o.Content.String())
		}
	}
	return lines
}

func (p Project) skipped() []string {
	return lists.Map(p.Skipped, func(left Skipped) string {
		line := left.What + " " + left.Why
		if len(left.Keys) > 0 {
			line += ", with " + strings.Join(left.Keys, ", ")
		}
		return line
	})
}

func (p Project) placeholders() []string {
	return lists.Map(p.Placeholders, func(found Placeholder) string {
		return fmt.Sprintf("%s, %s: from %s", found.Object, found.Path, found.From)
	})
}

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
		isBetter := len(value) > len(best) || len(value) == len(best) && value < best
		if strings.Contains(text, value) && isBetter {
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
