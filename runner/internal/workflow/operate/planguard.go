package operate

import (
	"fmt"
	"strings"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/machine/failure"
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
	texts := model.Map(differences, updateplan.Difference.String)
	if more := len(texts) - mostDifferences; more > 0 {
		texts = append(texts[:mostDifferences], fmt.Sprintf("and %d more", more))
	}
	err := fmt.Errorf("the plan does not say so: %s; this project was not changed", strings.Join(texts, "; "))
	return failure.Advise(err, "`"+next{g.job}.preview()+"` makes a plan of what is left")
}

// mostDifferences is how many differences an error lists; the findings have all of them.
const mostDifferences = 5

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
