package cli

import (
	"maps"
	"slices"

	"mara/runner/internal/journal"
	"mara/runner/internal/report"
	"mara/runner/internal/session"
	"mara/runner/internal/stacks"
)

// toldOutputs are the outputs that the run has come to know, masked.
func toldOutputs(s *session.Session) journal.Outputs {
	all := journal.Outputs{}
	for _, step := range s.Plan.Steps {
		told, ok := s.Stacks.Told(step.Project.Name)
		if !ok || len(told) == 0 {
			continue
		}
		for name, value := range told {
			if text, isText := value.(string); isText {
				told[name] = s.Masker.Mask(text)
			} else if plain := plainValue(value); s.Masker.Mask(plain) != plain {
				told[name] = stacks.Secret // somewhere inside
			}
		}
		all[step.Project.Name] = told
	}
	return all
}

// addOutputs puts outputs into a report, by name.
func addOutputs(details report.Details, outputs journal.Outputs) {
	for project, values := range outputs {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			details.Outputs[project] = append(details.Outputs[project], report.Output{
				Name: name, Value: plainValue(values[name]), Secret: values[name] == any(stacks.Secret),
			})
		}
	}
}
