package adopt

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
)

// Text returns the mara.yaml of the adoption, with the evidence as comments. backend is the
// printable URL of the backend.
func (a Adoption) Text(backend string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Made by `runner adopt` from the projects below this directory and their stacks in %s.\n", backend)
	b.WriteString("# Edit it as needed. Stacks, stack files and their encryption were not changed.\n")
	if len(a.Environments) > 0 {
		fmt.Fprintf(&b, "# Environments: %s\n", strings.Join(a.Environments, ", "))
	}
	b.WriteString("projects:\n")
	for _, p := range a.Projects {
		text, err := p.text()
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// text returns the entry of a project.
func (p Project) text() (string, error) {
	var b strings.Builder
	words, err := quote(p.Path)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "  - path: %s\n", words)
	deployed := "no stack"
	if len(p.Stacks) > 0 {
		deployed = "stacks: " + strings.Join(p.Stacks, ", ")
	}
	fmt.Fprintf(&b, "    # %s; %s\n", p.Name, deployed)
	if p.Stack != "" {
		fmt.Fprintf(&b, "    stack: %q\n", p.Stack)
	}
	fmt.Fprintf(&b, "    stackFile: %s\n", config.OwnStackFile)
	for _, edge := range p.Reads {
		fmt.Fprintf(&b, "    # %s: %s\n", edge.Project, edge.Evidence)
	}
	for _, edge := range p.Closes {
		fmt.Fprintf(&b, "    # skipped, because it closes a cycle: %s: %s\n", edge.Project, edge.Evidence)
	}
	if len(p.Reads) == 0 {
		return b.String(), nil
	}
	var reads []string
	for _, edge := range p.Reads {
		words, err := quote(edge.Project)
		if err != nil {
			return "", err
		}
		reads = append(reads, words)
	}
	fmt.Fprintf(&b, "    reads: [%s]\n", strings.Join(reads, ", "))
	return b.String(), nil
}

// quote quotes a string for YAML if necessary.
func quote(text string) (string, error) {
	content, err := yaml.Marshal([]string{text})
	return strings.TrimSpace(strings.TrimPrefix(string(content), "- ")), err
}
