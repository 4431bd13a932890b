package operate

import (
	"context"
	"fmt"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/leftovers"
	"mara/runner/internal/core/stacks"
)

// settleLeftovers clears what earlier runs have left, and repairs the states of projects whose creations were
// interrupted. It imports and refreshes the resources that exist in the cloud, and drops the others, which the run then
// creates again.
func (j *job) settleLeftovers(ctx context.Context) error {
	identified := j.left.Identified
	if err := j.s.Leftovers().Clear(ctx, j.left); err != nil || len(identified) == 0 {
		return err
	}
	pending, ids, imports := make([]stacks.Pending, 0, len(identified)), map[string]string{}, map[string]bool{}
	for _, i := range identified {
		pending, ids[i.URN] = append(pending, i.Pending), i.ID
		imports[i.Project] = imports[i.Project] || i.ID != ""
	}
	if err := j.s.Leftovers().BackUp(ctx, leftovers.Projects(pending), j.s.Held.Backups()); err != nil {
		return err
	}
	fmt.Fprintf(j.d.Stderr, "the previous state is in %s\n", j.s.Held.Backups())
	if err := j.s.Leftovers().Adopt(ctx, pending, ids); err != nil {
		return err
	}
	for _, step := range j.s.Plan.Steps {
		if !imports[step.Project.Name] {
			continue
		}
		task := stacks.Task{Operation: operation.Refresh, Step: step}
		if _, err := j.s.Stacks.Operate(ctx, task, func(event.Event) {}); err != nil {
			return fmt.Errorf("refreshing %s after an import: %w", step.Project.Name, err)
		}
	}
	return nil
}
