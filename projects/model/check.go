package model

import (
	"slices"

	"mara/projects/model/operation"
)

// Check names a condition to verify before an operation starts; package preflight
// implements it. Operations in neither list do not need the check.
type Check struct {
	Name           string
	Projects       []string              // projects it is for; nil means all of the provider
	Needed         []operation.Operation // operations that fail without it
	Useful         []operation.Operation // operations that may work without it
	AfterQuestions bool                  // its result depends on the answers of a first run
}

// NeededFor returns the names of the checks of an operation on some of the projects, in order,
// and which of them the operation needs. It returns none if there are no projects.
func (p Provider) NeededFor(op operation.Operation, projects []string) (names []string, needed map[string]bool) {
	needed = map[string]bool{}
	for _, check := range p.Checks {
		about := check.Projects == nil && len(projects) > 0 || overlap(check.Projects, projects)
		isNeeded := slices.Contains(check.Needed, op)
		if !about || !isNeeded && !slices.Contains(check.Useful, op) {
			continue
		}
		if !slices.Contains(names, check.Name) {
			names = append(names, check.Name)
		}
		needed[check.Name] = needed[check.Name] || isNeeded
	}
	return names, needed
}

// BeforeQuestions returns the provider with only those checks that an operation needs whatever
// the user answers, so that a run that cannot succeed fails before it asks questions.
func (p Provider) BeforeQuestions(op operation.Operation) Provider {
	p.Checks = slices.DeleteFunc(slices.Clone(p.Checks), func(c Check) bool {
		return c.AfterQuestions || !slices.Contains(c.Needed, op)
	})
	return p
}
