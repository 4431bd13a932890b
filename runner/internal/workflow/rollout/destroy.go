package rollout

import (
	"context"
	"errors"
	"fmt"

	"mara/config"
	"mara/runner/internal/environment/inventory"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/workflow/operate"
)

// lookBeforeDestroy refuses to destroy environments if one of them would refuse when its turn comes, after others
// are gone: it is protected, has resources that Pulumi refuses to delete, or cannot be read. `fleet reap` destroys
// each environment for itself.
func (r *rollout) lookBeforeDestroy(ctx context.Context) error {
	if !r.Operation.Destroys() || r.o.Reaps {
		return nil
	}
	environments := environmentsIn(r.steps)
	found, err := parallel.Each(ctx, environments, func(_ context.Context, stack string) (doomed, error) {
		return r.readDoomed(stack), nil
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range found {
		errs = append(errs, e.err)
	}
	if err := config.Join(errs...); err != nil {
		return err
	}
	states, err := inventory.StatesOf(ctx, r.d, r.Options, environments)
	if err != nil {
		return fmt.Errorf("looking for protected resources: %w", err)
	}
	var lines []string
	for i, stack := range environments {
		protected, err := operate.ProtectedIn(states[stack], found[i].projects)
		if err != nil {
			return fmt.Errorf("looking for protected resources of %s: %w", stack, err)
		}
		for _, line := range protected {
			lines = append(lines, stack+": "+line)
		}
	}
	if len(lines) > 0 {
		return &operate.ProtectedError{Lines: lines, Pulumi: "runner pulumi PROJECT -s STACK" + r.Simulation.Flag()}
	}
	return nil
}

// doomed is an environment that a rollout would destroy.
type doomed struct {
	projects []string // of the selection
	err      error    // that keeps it from being destroyed
}

// readDoomed reads the configuration of an environment, and selects its projects.
func (r *rollout) readDoomed(stack string) (found doomed) {
	one := r.request(r.Operation, stack)
	found.err = session.Use(r.d, one.SessionOptions(), (*session.Session).ResolveStack, func(s *session.Session) error {
		selected, err := plan.Select(s.Plan, s.Options.Selection)
		found.projects = selected.Names()
		return errors.Join(err, one.CheckProtection(r.d, s))
	})
	return found
}
