package inspect

import (
	"fmt"
	"slices"
	"strings"

	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/typeset"
)

// optionalDocument is the JSON form of an optional project.
type optionalDocument struct {
	Project   string            `json:"project"`
	Summary   string            `json:"summary"`
	Needs     string            `json:"needs"`
	Providers []string          `json:"providers"` // that may have it
	On        []string          `json:"on"`        // providers that have it
	Refused   map[string]string `json:"refused,omitempty"`
}

// showOptional lists the optional projects of a provider, or of all.
func showOptional(d cmd.Deps, o planOptions) error {
	of := o.Known().Providers
	if o.provider.Name != "" {
		of = []model.Provider{o.provider}
	}
	documents := optionalOf(of)
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "PROJECT"}, {Title: "PROVIDERS", Min: 12}, {Title: "ON", Min: 4}, {Title: "NEEDS", Min: 20},
		{Title: "ABOUT", Optional: true},
	}}
	var notes []string
	for _, document := range documents {
		table.Rows = append(table.Rows, []string{
			document.Project, cmd.OrDash(strings.Join(document.Providers, ", ")), cmd.OrDash(strings.Join(document.On, ", ")),
			document.Needs, document.Summary,
		})
		for _, p := range of {
			if reason := document.Refused[p.Name]; reason != "" {
				notes = append(notes, fmt.Sprintf("%s is not there for %s: %s", document.Project, p.Name, reason))
			}
		}
	}
	text := table.Text(d.Width())
	if len(notes) > 0 {
		text += "\n" + strings.Join(notes, "\n") + "\n"
	}
	text += "\nTo add them, write below a provider in mara.yaml:  with: [metrics-server, dashboard]\n"
	return o.Show(d, documents, text)
}

// optionalOf returns the optional projects with the providers that may have them.
func optionalOf(of []model.Provider) []optionalDocument {
	documents := []optionalDocument{}
	for _, project := range projects.Optional() {
		document := optionalDocument{
			Project: project.Name, Summary: project.Summary, Needs: project.Needs, Providers: []string{}, On: []string{},
			Refused: map[string]string{},
		}
		for _, p := range of {
			if _, ok := p.Optional.Find(project.Name); ok {
				document.Providers = append(document.Providers, p.Name)
			} else if reason := p.Optional.Refused[project.Name]; reason != "" {
				document.Refused[p.Name] = reason
			}
			if slices.Contains(p.Names(), project.Name) {
				document.On = append(document.On, p.Name)
			}
		}
		documents = append(documents, document)
	}
	return documents
}
