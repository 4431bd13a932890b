package plan

import (
	"slices"
	"strings"

	"mara/config/lists"
)

// ExcludedError refuses a plan because of projects that it skips. For a
// destroy that is what is still deployed and needs something that would be
// destroyed, else what is not deployed yet and needed.
type ExcludedError struct {
	Destroy  bool
	Projects []Blocking
}

// Blocking is a skipped project that must not be skipped.
type Blocking struct {
	Project string
	For     []string // the projects in the plan that it matters to
}

// Error names the projects, and for each of them why it matters.
func (e *ExcludedError) Error() string {
	head, word := "not deployed yet, but skipped: ", "needed by"
	if e.Destroy {
		head, word = "still deployed, but skipped: ", "needs"
	}
	return head + strings.Join(lists.Map(e.Projects, func(b Blocking) string {
		return b.Project + " (" + word + " " + strings.Join(b.For, ", ") + ")"
	}), ", ")
}

// NextStep says how to select what is missing.
func (e *ExcludedError) NextStep() string {
	if e.Destroy {
		return "NAME+ selects a project and everything that needs it"
	}
	return "+NAME selects a project and everything that it needs"
}

// CheckExcluded returns an *ExcludedError if what is skipped has to be
// deployed first or, for a destroy, destroyed first. Indirect needs count, too:
// all that is missing is named at once.
func (p Plan) CheckExcluded(deployed func(project string) bool) error {
	excluded := map[string]Step{}
	for _, e := range p.Excluded {
		if !e.NotWanted {
			excluded[e.Step.Project.Name] = e.Step
		}
	}
	blocked := map[string][]string{}
	for _, step := range p.Steps {
		for _, name := range step.blockers(excluded, p.Destroy, deployed) {
			blocked[name] = append(blocked[name], step.Project.Name)
		}
	}
	if len(blocked) == 0 {
		return nil
	}
	err := &ExcludedError{Destroy: p.Destroy}
	for _, e := range p.Excluded {
		if name := e.Step.Project.Name; blocked[name] != nil {
			err.Projects = append(err.Projects, Blocking{Project: name, For: blocked[name]})
		}
	}
	return err
}

// blockers lists the excluded projects that keep a step from running. What a deployed
// project needs does not matter to its dependents; but all dependents of a project, direct
// or not, break with it.
func (s Step) blockers(excluded map[string]Step, destroy bool, deployed func(string) bool) []string {
	var names []string
	seen := map[string]bool{}
	for queue := slices.Clone(s.Outside); len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		step, out := excluded[name]
		if !out || seen[name] {
			continue
		}
		seen[name] = true
		if deployed(name) == destroy {
			names = append(names, name)
		} else if !destroy {
			continue
		}
		queue = append(queue, slices.Concat(step.All(), step.Outside)...)
	}
	return names
}
