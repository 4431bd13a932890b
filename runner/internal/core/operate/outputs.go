package operate

import (
	"fmt"
	"strings"

	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/typeset"
)

// maskedOutputs returns the outputs known after the run, with secrets masked.
func maskedOutputs(s *session.Reading) journal.Outputs {
	all := journal.Outputs{}
	for _, step := range s.Plan.Steps {
		values, ok := s.Stacks.ReportedOutputs(step.Project.Name)
		if !ok || len(values) == 0 {
			continue
		}
		for name, value := range values {
			if text, isText := value.(string); isText {
				values[name] = s.Masker.Mask(text)
			} else if plain := typeset.Value(value); s.Masker.Mask(plain) != plain {
				values[name] = stacks.Secret // somewhere inside
			}
		}
		all[step.Project.Name] = values
	}
	return all
}

// printHighlights prints the addresses and user names that matter after a
// successful up, in the order of the plan. None of them is secret.
func (j *job) printHighlights(outputs journal.Outputs) {
	if !j.Operation.Deploys() || j.view.JSON {
		return
	}
	if lines := highlightLines(j.s.Plan.Steps, outputs); len(lines) > 0 {
		fmt.Fprintf(j.view.Stdout, "\nOutputs:\n  %s\n", strings.Join(lines, "\n  "))
	}
}

// highlightLines formats the highlighted outputs in columns.
func highlightLines(steps []plan.Step, outputs map[string]map[string]any) []string {
	table := typeset.Table{Columns: make([]typeset.Column, 3)}
	for _, step := range steps {
		project := step.Project
		for _, output := range project.Outputs {
			value, ok := outputs[project.Name][output.Name]
			if !ok || !output.Highlight || output.Secret || typeset.Value(value) == "" {
				continue
			}
			table.Rows = append(table.Rows, []string{project.Title, output.Name, typeset.Value(value)})
		}
	}
	return strings.FieldsFunc(table.Text(0), func(r rune) bool { return r == '\n' })
}
