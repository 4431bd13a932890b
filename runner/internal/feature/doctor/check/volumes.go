package check

import (
	"encoding/json"

	"mara/config"
	"mara/runner/internal/core/hooks"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
)

// shrunkVolumes finds sizes of volumes below what is deployed, as far as the states are files.
func shrunkVolumes(s *session.Session) (problems []config.Problem) {
	states := s.States()
	if !states.IsFile() {
		return nil
	}
	values := s.Provider.Values(s.Settings.Config)
	for _, step := range s.Plan.Steps {
		p := step.Project
		if p.Volumes == nil {
			continue
		}
		content, err := states.Read(p.Name)
		if err != nil || len(content) == 0 {
			continue // other commands report a state that cannot be read
		}
		deployed, err := stacks.VolumeSizesIn(json.RawMessage(content))
		if err != nil {
			continue
		}
		wanted, known := hooks.VolumesOf(p, s.Provider, values)
		if !known {
			continue
		}
		problem := config.Problem{Key: "applications." + p.Name + ".volume.size", File: config.MaraFile}
		if p.Own != nil {
			problem.Line = p.Own.Line
		}
		if key := p.Volumes.Key; key != "" {
			problem = s.Settings.Config.Problem(key, "")
		}
		if problem.Text = hooks.Refusal(deployed, wanted.Size); problem.Text != "" {
			problems = append(problems, problem)
		}
	}
	return problems
}
