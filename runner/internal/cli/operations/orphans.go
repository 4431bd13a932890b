package operations

import (
	"context"
	"fmt"
	"strings"

	"mara/runner/internal/environment/inventory"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
)

// checkOrphans returns a usage error for flags that contradict --orphans.
func (o operateOptions) checkOrphans() error {
	if words := o.Selection.words(); o.Orphans && len(words) > 0 {
		return failure.Usagef(
			"destroy", "--orphans and %s: choose one; orphans are no projects of the plan", strings.Join(words, " "),
		)
	}
	return nil
}

// chooseOrphans returns the work on stacks that no project claims.
func chooseOrphans(ctx context.Context, s *session.Session, o operateOptions) (w work, err error) {
	found, err := inventory.FindUnclaimed(ctx, s)
	if err != nil {
		return w, err
	}
	for _, stranger := range found.Strangers {
		s.Warnings = append(s.Warnings,
			fmt.Sprintf("%s has a stack named %s and is not touched: it may belong to another repository, "+
				"because it is not encrypted with the key of this environment", stranger, s.Settings.Stack.Text))
	}
	if w.plan, err = found.Plan(s.Provider); err != nil {
		return w, err
	}
	w.plan = w.plan.Reverse()
	w.limit, w.limits, err = o.timeouts(s.Plan)
	return w, err
}

// warnOfOrphans warns of stacks that no project claims: the operation does not touch them.
func warnOfOrphans(ctx context.Context, s *session.Session, o operateOptions) {
	if o.Orphans || s.Unchanged != nil || !o.Operation.Destroys() && !o.Operation.Deploys() {
		return
	}
	found, err := inventory.FindUnclaimed(ctx, s)
	switch {
	case err != nil:
		s.Warnings = append(s.Warnings, fmt.Sprintf("looking for stacks that no project claims: %v", err))
	case len(found.Orphans) > 0:
		s.Warnings = append(s.Warnings, found.Text()+"; "+found.Remedy(s.Command))
	}
}

// chooseWork returns the work of an operation: on orphans, or on projects of the plan.
func chooseWork(ctx context.Context, s *session.Session, o operateOptions) (work, error) {
	if o.Orphans {
		return chooseOrphans(ctx, s, o)
	}
	return choose(s, o)
}
