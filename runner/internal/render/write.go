package render

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"sigs.k8s.io/yaml"
)

// About says what the manifests are of.
type About struct {
	Provider, Stack string
	Simulated       bool // the values of clouds are made up
}

// Stream is all objects as one text, in the order in which they can be applied.
func (m Manifests) Stream() ([]byte, error) {
	var b bytes.Buffer
	for _, p := range m.Projects {
		for _, o := range p.Objects {
			content, err := yaml.Marshal(o.Content)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "---\n# %s\n%s", path.Join(p.Folder, o.File), content)
		}
	}
	return b.Bytes(), nil
}

// Files are the files of a folder with all objects.
func (m Manifests) Files(about About) (map[string][]byte, error) {
	files := map[string][]byte{"README.md": m.readme(about)}
	for _, p := range m.Projects {
		for _, o := range p.Objects {
			content, err := yaml.Marshal(o.Content)
			if err != nil {
				return nil, err
			}
			files[path.Join(p.Folder, o.File)] = content
		}
	}
	return files, nil
}

// readme says what is in the folder, and what is not.
func (m Manifests) readme(about About) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Manifests of %s (%s)\n\n", about.Stack, about.Provider)
	b.WriteString("What the projects would create in the cluster, a folder for each. Folders and files are numbered: in " +
		"this order they\n" +
		"can be applied, for instance with `kubectl apply --server-side -R -f .`, again where a definition was not ready in " +
		"time.\n" +
		"`runner render` has written them, and replaces them.\n\n| folder | objects |\n|---|---|\n")
	for _, p := range m.Projects {
		fmt.Fprintf(&b, "| %s | %d |\n", p.Folder, len(p.Objects))
	}
	if len(m.Elsewhere) > 0 {
		fmt.Fprintf(&b, "\nNothing in the cluster: %s.\n", strings.Join(m.Elsewhere, ", "))
	}
	m.list(&b, "Left out", "Make these yourself, or see to it that nothing needs them.", Project.leftOut)
	if about.Simulated {
		m.list(&b, "Made up", "A simulated cloud has made up these values. Put the real ones in their place, or render a plan "+
			"of the\n"+
			"deployed environment: `runner preview --save-plan FILE`, `runner render --plan FILE`.", Project.madeUp)
	}
	m.list(&b, "Different each time", "The chart makes up something whenever it is rendered.", Project.unsteady)
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
			fmt.Fprintf(b, "- %s: %s\n", p.Folder, line)
		}
	}
}

func (p Project) leftOut() []string {
	var lines []string
	for _, left := range p.LeftOut {
		line := left.What + " " + left.Why
		if len(left.Keys) > 0 {
			line += ", with " + strings.Join(left.Keys, ", ")
		}
		lines = append(lines, line)
	}
	return lines
}

func (p Project) madeUp() []string {
	return slice.Map(p.MadeUp, func(m MadeUp) string { return fmt.Sprintf("%s, %s: from %s", m.Object, m.Path, m.From) })
}

func (p Project) unsteady() []string { return p.Unsteady }
