package providers

import (
	"slices"

	"mara/providers/operation"
)

// Check names something that has to be right before an operation starts; how
// to look is known to the runner. An operation that is in neither list does not
// care.
type Check struct {
	Name           string
	Projects       []string              // that need it; nil means all of the provider
	Needed         []operation.Operation // that cannot do without
	Useful         []operation.Operation // that may get by without
	AfterQuestions bool                  // what is found depends on the answers of a first run
}

// sharedChecks are those of the projects that every provider has. The image of
// the ingress controller is made and kept by Docker on this machine; a refresh
// looks at it there, too, but the clusters do not need it for that.
func sharedChecks() []Check {
	return []Check{
		{
			Name: "docker", Projects: []string{"kic-image-build", "kic-image-push"},
			Needed: []operation.Operation{operation.Up, operation.Preview, operation.Destroy},
			Useful: []operation.Operation{operation.Refresh, operation.Drift},
		},
		{Name: "kubectl", Useful: []operation.Operation{operation.Up}},
	}
}

// NeededFor says which checks an operation on some of the projects needs, by
// name and in order; for the others that concern it, the value is false. Where
// there is no project to work on, none is needed.
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

// BeforeQuestions is the provider with those checks alone that an operation
// needs whatever a first run is answered: nobody should answer questions for
// what cannot go well.
func (p Provider) BeforeQuestions(op operation.Operation) Provider {
	p.Checks = slices.DeleteFunc(slices.Clone(p.Checks), func(c Check) bool { return c.AfterQuestions || !slices.Contains(c.Needed, op) })
	return p
}
