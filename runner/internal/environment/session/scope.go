package session

import (
	"slices"

	"mara/runner/internal/environment/checkout"
	"mara/runner/internal/state/scope"
)

// Scope returns the stacks of the environment: those of its provider's projects,
// including the projects that a condition skips here. As long as no provider is known
// they are those of all projects that the root knows.
func (s *Session) Scope() scope.Scope {
	known := s.Options.Known()
	names := append([]string{}, s.Provider.Names()...)
	if s.Provider.Name == "" {
		for _, p := range known.Projects {
			names = append(names, p.Name)
		}
	}
	return scope.Scope{
		Environment: s.Settings.Stack.Text, Backend: s.Settings.Backend.Text, Projects: names, Names: known.StackNames(),
	}
}

// sharingKey returns the projects of the environment that share its key. The others
// have stack files of their own that say how they are encrypted.
func sharingKey(s *Session) []string {
	beside, _ := s.Checkouts().Files.InPlan(s.Plan)
	return slices.DeleteFunc(slices.Clone(s.Scope().Projects), func(project string) bool {
		file, there := beside[project]
		return there && checkout.SaysHow(file)
	})
}
