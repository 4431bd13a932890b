package providers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
)

// Reference returns the reference page of all projects, in Markdown: what each one deploys,
// the configuration and secrets it reads, what it waits for and what it exports. It is
// generated from the catalogue, as StackExample is.
func Reference(head string, all []model.Provider, listed []model.Project) []byte {
	var b strings.Builder
	b.WriteString(head)
	for _, project := range listed {
		fmt.Fprintf(&b, "- [%s](#%s): %s\n", project.Name, project.Name, project.Summary)
	}
	r := reference{&b, all}
	for _, project := range listed {
		r.writeProject(project)
	}
	return []byte(b.String())
}

// reference is a page that is being written.
type reference struct {
	b   *strings.Builder
	all []model.Provider
}

// writeProject writes the section of one project.
func (r reference) writeProject(project model.Project) {
	b := r.b
	fmt.Fprintf(b, "\n## %s\n\n%s: %s.\n\n", project.Name, project.Title, project.Summary)
	fmt.Fprintf(b, "- Directory: `%s`\n", project.Directory())
	fmt.Fprintf(b, "- Providers: %s\n", strings.Join(r.serving(project), ", "))
	if project.Needs != "" {
		fmt.Fprintf(b, "- Optional: part of an environment only if `with` in mara.yaml names it. It needs %s\n", project.Needs)
	}
	if project.Namespace != "" {
		fmt.Fprintf(b, "- Namespace: `%s`\n", project.Namespace)
	}
	r.writeEdges("Reads the outputs of", project, func(s model.Step) []string { return s.Reads })
	r.writeEdges("Waits for", project, func(s model.Step) []string { return s.After })
	if project.HasHook(model.HookKubeconfig) {
		b.WriteString("- When it has succeeded, the runner merges its kubeconfig into yours; destroy removes it again\n")
	}
	if project.LeavesCloudResources {
		b.WriteString("- Before it is destroyed, the runner waits until its load balancers and volumes are gone, " +
			"and refuses if they stay\n")
	}
	if project.HasHook(model.HookReachable) {
		b.WriteString("- When it has succeeded, the runner waits until `application_url` answers, five minutes at most; " +
			"on kind it fails when it does not\n")
	}
	writeKeys(b, project.Keys)
	writeSecrets(b, project.Secrets)
	writeOutputs(b, project.Outputs)
}

// serving returns the names of the providers whose plans have the project.
func (r reference) serving(project model.Project) []string {
	var names []string
	for _, provider := range r.all {
		if slices.Contains(provider.Names(), project.Name) {
			names = append(names, provider.Name)
		}
	}
	return names
}

// step finds a project in a provider's list.
func step(p model.Provider, project string) (model.Step, bool) {
	return lists.Find(p.Steps, func(step model.Step) bool { return step.Project.Name == project })
}

// writeEdges writes one kind of edges. It names the providers of an edge that not all of them
// share.
func (r reference) writeEdges(words string, project model.Project, edges func(model.Step) []string) {
	in := map[string][]string{} // project to the providers in which it is needed
	var needed []string
	for _, provider := range r.all {
		step, ok := step(provider, project.Name)
		if !ok {
			continue
		}
		for _, need := range edges(step) {
			if in[need] == nil {
				needed = append(needed, need)
			}
			in[need] = append(in[need], provider.Name)
		}
	}
	var texts []string
	for _, need := range needed {
		text := fmt.Sprintf("[%s](#%s)", need, need)
		if len(in[need]) < len(r.serving(project)) {
			text += " (" + strings.Join(in[need], ", ") + ")"
		}
		texts = append(texts, text)
	}
	if len(texts) > 0 {
		fmt.Fprintf(r.b, "- %s: %s\n", words, strings.Join(texts, ", "))
	}
}

func writeKeys(b *strings.Builder, keys []config.Key) {
	writeTable(b, "| Key | Kind | Default | Meaning |\n| --- | --- | --- | --- |", keys, func(key config.Key) string {
		meaning := key.Doc
		if rule := Rule(key); rule != "" {
			meaning += ". " + rule
		}
		return fmt.Sprintf("| `%s` | %s | %s | %s |", key.Name, key.Kind, defaultOf(key), cell(meaning))
	})
}

// writeTable writes a table under its head, if it has rows.
func writeTable[T any](b *strings.Builder, head string, items []T, row func(T) string) {
	if len(items) == 0 {
		return
	}
	b.WriteString("\n" + head + "\n")
	for _, item := range items {
		b.WriteString(row(item) + "\n")
	}
}

// defaultOf returns the default of a key for the table.
func defaultOf(key config.Key) string {
	switch value := key.Default.(type) {
	case nil:
		switch {
		case key.Required && len(key.Variables) > 0:
			return "required, or `" + strings.Join(key.Variables, "` or `") + "`"
		case key.Required:
			return "required"
		}
		return ""
	case string:
		return "`" + cell(value) + "`"
	default:
		text, err := json.Marshal(value)
		if err != nil {
			panic(fmt.Sprintf("the default of %s is no JSON: %v", key.Name, err))
		}
		return "`" + cell(string(text)) + "`"
	}
}

func writeSecrets(b *strings.Builder, secrets []model.Secret) {
	head := "| Secret | When none is given | Meaning |\n| --- | --- | --- |"
	writeTable(b, head, secrets, func(secret model.Secret) string {
		return fmt.Sprintf("| `%s` | %s | %s |", secret.Key, originOf(secret), cell(secret.Doc))
	})
}

// originOf returns the source of a secret that the user does not give.
func originOf(secret model.Secret) string {
	switch {
	case secret.Generate != model.None:
		return "generated"
	case secret.Default != "":
		return "a default"
	case secret.Optional:
		return "none"
	}
	return "asked for"
}

func writeOutputs(b *strings.Builder, outputs []model.Output) {
	writeTable(b, "| Output | Meaning |\n| --- | --- |", outputs, func(output model.Output) string {
		meaning := output.Doc
		if output.Secret {
			meaning += " (secret)"
		}
		return fmt.Sprintf("| `%s` | %s |", output.Name, cell(meaning))
	})
}

// cell escapes a string for a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
