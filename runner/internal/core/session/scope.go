package session

import (
	"maps"
	"slices"

	"mara/projects/model"
)

// Scope is the stacks of one environment in one backend, which may be shared: other repositories may have stacks of the
// same name there, and whatever reads or changes "the stacks of the environment" has to leave theirs alone.
type Scope struct {
	Environment string
	Backend     string
	Projects    []string         // of the plan, including projects that a condition skips here
	Names       model.StackNames // of the projects whose stacks have names of their own
}

// Contains reports whether the stack of a project in an environment, as a backend
// lists them, belongs to the environment of the scope.
func (s Scope) Contains(environment, project string) bool {
	return environment == s.Environment && slices.Contains(s.Projects, project)
}

// In returns the scope with the same projects in another environment.
func (s Scope) In(environment string) Scope {
	s.Environment = environment
	return s
}

// Choose returns the projects that belong to the environment, among projects with
// a stack of this name in the backend.
func (s Scope) Choose(environment string, projects []string) []string {
	return slices.DeleteFunc(slices.Clone(projects), func(project string) bool {
		return !s.Contains(environment, project)
	})
}

// Stack returns the name of a project's stack.
func (s Scope) Stack(project string) string { return s.Names.Of(project, s.Environment) }

// Own returns what belongs to the environment, by project, of everything that is in
// the backend, by environment and then by project.
func Own[T any](s Scope, all map[string]map[string]T) map[string]T {
	own := maps.Clone(all[s.Environment])
	maps.DeleteFunc(own, func(project string, _ T) bool { return !s.Contains(s.Environment, project) })
	return own
}
