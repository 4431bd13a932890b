package check

import (
	"mara/config"
	"mara/projects"
	"mara/runner/internal/core/hooks"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
)

// shrunkVolumes finds sizes of volumes below what is deployed, as far as the states are files.
func shrunkVolumes(s *session.Resolved) (problems []config.Problem) {
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
		deployed, err := stacks.VolumesIn(content)
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
		change := hooks.CompareVolumes(deployed, wanted)
		if problem.Text = change.SmallerThan(wanted); problem.Text != "" {
			problems = append(problems, problem)
		}
		if text := change.OtherThan(wanted); text != "" {
			of := config.Problem{Key: "applications." + p.Name + ".volume.class", File: config.MaraFile, Line: problem.Line, Text: text}
			if p.Volumes.Key != "" {
				of = s.Settings.Config.Problem(projects.StorageClass, text)
			}
			problems = append(problems, of)
		}
	}
	return problems
}
