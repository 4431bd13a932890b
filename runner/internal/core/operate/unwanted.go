package operate

import (
	"context"
	"slices"

	"mara/config/lists"
	"mara/projects/model"
)

// warnOfUnwanted warns of projects that their condition takes out of the environment: of one that is still deployed, and
// of readers of one that is not.
func (j *job) warnOfUnwanted(context.Context) error {
	if !j.Operation.RunsPrograms() || j.s.Unchanged != nil {
		return nil
	}
	for _, out := range j.s.Plan.Excluded {
		name := out.Step.Project.Name
		switch {
		case !out.NotWanted:
		case j.s.Stacks.IsDeployed(name):
			j.warn("%s is not part of this environment (%s), and still deployed: `%s` removes it", name, out.Reason,
				j.s.Command("destroy --only "+name))
		default:
			for _, step := range j.w.plan.Steps {
				declared, ok := lists.Find(j.s.Provider.Steps, func(s model.Step) bool { return s.Name() == step.Project.Name })
				if ok && step.Project.Own != nil && slices.Contains(declared.Reads, name) {
					j.warn("%s reads %s, which is not part of this environment (%s) and not deployed: its program has to do "+
						"without", step.Project.Name, name, out.Reason)
				}
			}
		}
	}
	return nil
}
