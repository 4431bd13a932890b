package operations

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/journal"
	"mara/runner/internal/session"
	"mara/runner/internal/stacks"
)

// maskedOutputs returns the outputs known after the run, with secrets masked.
func maskedOutputs(s *session.Session) journal.Outputs {
	all := journal.Outputs{}
	for _, step := range s.Plan.Steps {
		told, ok := s.Stacks.Told(step.Project.Name)
		if !ok || len(told) == 0 {
			continue
		}
		for name, value := range told {
			if text, isText := value.(string); isText {
				told[name] = s.Masker.Mask(text)
			} else if plain := cmd.PlainValue(value); s.Masker.Mask(plain) != plain {
				told[name] = stacks.Secret // somewhere inside
			}
		}
		all[step.Project.Name] = told
	}
	return all
}
