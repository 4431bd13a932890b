package operate

import (
	"fmt"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/run/event"
)

// planGuard refuses projects that would do something else than a saved plan says. Without
// a plan it refuses nothing.
type planGuard struct {
	judge
	projects map[string]updateplan.Project
}

func (j *job) newPlanGuard(op operation.Operation) planGuard {
	guard := planGuard{judge: judge{j}, projects: map[string]updateplan.Project{}}
	if j.Plan.Hold != nil && op.Deploys() {
		for _, project := range j.Plan.Hold.Projects {
			guard.projects[project.Name] = project
		}
	}
	return guard
}

// isDue reports whether a project has to be previewed again, to compare it with the plan.
func (g planGuard) isDue(project string) bool {
	_, held := g.projects[project]
	return held
}

// check refuses a project whose preview differs from the plan. Every difference is a finding.
func (g planGuard) check(now updateplan.Project, emit func(event.Event)) error {
	planned, held := g.projects[now.Name]
	if !held {
		return nil
	}
	differences := planned.Differences(now)
	if len(differences) == 0 {
		return nil
	}
	for _, difference := range differences {
		g.emitFinding(emit, planFinding(now.Name, difference), "")
	}
	return &planError{
		differences: differences, next: "`" + next{g.job}.preview() + "` makes a plan of what is left",
	}
}

// planFinding returns a difference as the finding of the guard.
func planFinding(project string, d updateplan.Difference) event.Finding {
	f := event.Finding{
		Rule: event.RulePlan, Level: event.LevelDeny, Project: project, Resource: d.Resource, URN: d.URN,
		Property: d.Property, Planned: d.Planned, Now: d.Now, Message: "the plan does not say so: " + d.String(),
	}
	if d.Output != "" {
		f.Resource = event.Resource{Name: "output " + d.Output}
	}
	return f
}

// planError says in what a project differs from the saved plan.
type planError struct {
	differences []updateplan.Difference
	next        string
}

// mostDifferences is how many differences an error lists; the findings have all of them.
const mostDifferences = 5

// Error lists the first differences.
func (e *planError) Error() string {
	var texts []string
	for i, difference := range e.differences {
		if i == mostDifferences {
			texts = append(texts, fmt.Sprintf("and %d more", len(e.differences)-i))
			break
		}
		texts = append(texts, difference.String())
	}
	return "the plan does not say so: " + strings.Join(texts, "; ") + "; this project was not changed"
}

// NextStep says what to do.
func (e *planError) NextStep() string { return e.next }
