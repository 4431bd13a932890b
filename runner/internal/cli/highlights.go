package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"mara/projects"
	"mara/runner/internal/event"
	"mara/runner/internal/session"
)

// tellHighlights shows, at the end of a successful up, what a user goes on
// with: addresses and names to log in with. What is deployed is deployed, so
// that they cannot be read is no failure.
func tellHighlights(ctx context.Context, d Deps, o operateOptions, s *session.Session) {
	if o.Operation != event.Up || o.Output != "text" {
		return
	}
	lines, err := highlights(ctx, s)
	if err != nil {
		fmt.Fprintf(d.Stderr, "warning: the outputs could not be read: %v\n", err)
		return
	}
	if len(lines) > 0 {
		fmt.Fprintf(d.Stdout, "\nOutputs:\n  %s\n", strings.Join(lines, "\n  "))
	}
}

// highlights are the outputs that the catalogue marks as such, one a line, in
// the order of the plan. None of them is secret.
func highlights(ctx context.Context, s *session.Session) ([]string, error) {
	var marked []projects.Project
	var names []string
	for _, step := range s.Plan.Steps {
		if slices.ContainsFunc(step.Project.Outputs, func(o projects.Output) bool { return o.Highlight }) {
			marked = append(marked, step.Project)
			names = append(names, step.Project.Name)
		}
	}
	outputs, err := outputs(ctx, s, names, false)
	if err != nil {
		return nil, err
	}
	return highlightLines(marked, outputs), nil
}

// highlightLines sets the highlighted outputs that have a value in columns.
func highlightLines(marked []projects.Project, outputs map[string]map[string]any) []string {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, project := range marked {
		for _, output := range project.Outputs {
			value, ok := outputs[project.Name][output.Name]
			if !ok || !output.Highlight || output.Secret || plainValue(value) == "" {
				continue
			}
			fmt.Fprintf(table, "%s\t%s\t%s\n", project.Title, output.Name, plainValue(value))
		}
	}
	_ = table.Flush() // into memory
	return strings.FieldsFunc(text.String(), func(r rune) bool { return r == '\n' })
}
