package operate

import (
	"context"

	"mara/runner/internal/core/inventory"
)

// chooseOrphans chooses the work on stacks that no project claims.
func (j *job) chooseOrphans(ctx context.Context) error {
	found, err := inventory.FindUnclaimed(ctx, j.s)
	if err != nil {
		return err
	}
	for _, stranger := range found.Strangers {
		j.warn("%s has a stack named %s and is not touched: it may belong to another repository, "+
			"because it is not encrypted with the key of this environment", stranger, j.s.Settings.Stack.Text)
	}
	p, err := found.Plan(j.s.Provider)
	if err != nil {
		return err
	}
	j.w.plan = p.Reverse()
	j.w.limit, j.w.limits, err = j.Execution.limits(j.s.Plan)
	return err
}

// warnOfOrphans warns of stacks that no project claims: the operation does not touch them.
func (j *job) warnOfOrphans(ctx context.Context) {
	if j.Removal.Orphans || j.s.Unchanged != nil || !j.Operation.Destroys() && !j.Operation.Deploys() {
		return
	}
	found, err := inventory.FindUnclaimed(ctx, j.s)
	switch {
	case err != nil:
		j.warn("looking for stacks that no project claims: %v", err)
	case len(found.Orphans) > 0:
		j.warn("%s; %s", found.Text(), found.Remedy(j.s.Command))
	}
}
