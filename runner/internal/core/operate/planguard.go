package operate

import (
	"fmt"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/failure"
)

// planned returns what the saved plan that an up must follow says of a project; ok is false if there is none.
func (o operator) planned(project string) (planned updateplan.Project, ok bool) {
	if o.Plan.Hold == nil || !o.task.Operation.Deploys() {
		return planned, false
	}
	return lists.Find(o.Plan.Hold.Projects, func(p updateplan.Project) bool { return p.Name == project })
}

// checkPlan refuses a project whose preview differs from the plan. Every difference is a finding.
func (g judge) checkPlan(planned, now updateplan.Project, emit func(event.Event)) error {
	differences := planned.Differences(now)
	if len(differences) == 0 {
		return nil
	}
	for _, difference := range differences {
		g.emitFinding(emit, planFinding(now.Name, difference), "")
	}
	const most = 5 // the findings have all of them
	texts := lists.Map(differences, updateplan.Difference.String)
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], fmt.Sprintf("and %d more", more))
	}
	err := fmt.Errorf("the plan does not say so: %s; this project was not changed", strings.Join(texts, "; "))
	return refusal.By(refusal.Plan, failure.Advise(err, "`"+next(g).preview()+"` makes a plan of what is left"))
}

// planFinding returns a difference as the finding of the guard.
func planFinding(project string, d updateplan.Difference) event.Finding {
	f := event.Finding{
		Rule: string(refusal.Plan), Level: event.LevelDeny, Project: project, Resource: d.Resource, URN: d.URN,
		Property: d.Property, Planned: d.Planned, Now: d.Now, Message: "the plan does not say so: " + d.String(),
	}
	if d.Output != "" {
		f.Resource = event.Resource{Name: "output " + d.Output}
	}
	return f
}
