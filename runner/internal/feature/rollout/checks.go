package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/operate"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/parallel"
)

// lookBeforeDestroy refuses to destroy environments if one of them would refuse when its turn comes, after others
// are gone: it is protected, has resources that Pulumi refuses to delete, or cannot be read. `fleet reap` destroys
// each environment for itself.
func (r *rollout) lookBeforeDestroy(ctx context.Context) error {
	if !r.Operation.Destroys() || r.o.Command == ReapName {
		return nil
	}
	environments := environmentsIn(r.steps)
	found, err := parallel.Each(ctx, environments, func(_ context.Context, stack string) (doomed, error) {
		return r.readDoomed(stack), nil
	})
	if err != nil {
		return err
	}
	if err := config.Join(lists.Map(found, func(e doomed) error { return e.err })...); err != nil {
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
		return operate.RefuseProtected(lines, "runner pulumi PROJECT -s STACK"+r.Simulation.Flag())
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
	found.err = session.Use(r.d, one.SessionOptions(), session.ResolveStack, func(s *session.Resolved) error {
		selected, err := plan.Select(s.Plan, s.Options.Selection)
		found.projects = selected.Names()
		return errors.Join(err, one.CheckProtection(r.d, s))
	})
	return found
}

// checkPromotion refuses the plan as long as environments of earlier waves are not up to date: all of their projects
// have to have succeeded with the values and programs that they have now, and their wave has to have passed its gates
// with these.
func (r *rollout) checkPromotion(ctx context.Context, waves fleet.Rollout) error {
	p, t := r.steps, record.NewToday(ctx, r.Root, r.d.Version)
	var chosen []fleet.Environment
	for _, name := range p.Names() {
		if e, ok := r.plan.Environments[name]; ok {
			chosen = append(chosen, e)
		}
	}
	var problems []config.Problem
	var unpassed []string // environments
	for _, e := range waves.Before(chosen, r.all) {
		if slices.Contains(p.Names(), e.Stack) {
			continue
		}
		w, err := waves.WaveOf(e)
		if err != nil {
			return err
		}
		why, err := r.notRolled(ctx, e.Stack, t)
		if err != nil {
			return err
		}
		if asked := slices.Contains(p.Names(), event.WavePrefix+w.Name); why == "" && !asked { // by a rollout that resumes
			if why, err = r.notPassed(ctx, e.Stack, w); err != nil {
				return err
			}
			if why != "" {
				unpassed = append(unpassed, e.Stack)
			}
		}
		if why != "" {
			text := fmt.Sprintf("comes before, and %s%s", e.Stack, why)
			problems = append(problems, config.Problem{File: fleet.RolloutFile, Line: w.Line, Key: w.Name, Text: text})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	by, next := refusal.Promotion, "roll out to the earlier waves first, or override this with --out-of-order"
	if len(unpassed) == len(problems) {
		by = refusal.Gate
		next = fmt.Sprintf("`runner fleet up %s%s` skips what is unchanged and asks the gates; --skip-gate KIND or "+
			"--out-of-order override this", strings.Join(append(unpassed, environmentsIn(p)...), " "), r.Simulation.Flag())
	}
	return refusal.By(by, &config.Error{Problems: problems, Next: next})
}

// notPassed returns which gates the wave of an environment has not passed with what runs in it; "" if it has.
func (r *rollout) notPassed(ctx context.Context, stack string, w fleet.Wave) (string, error) {
	names := map[string]string{}
	var gates []string
	for _, gate := range w.Gates {
		if !slices.Contains(r.o.SkipGates, gate.Kind) {
			names[gate.Identity()] = gate.String()
			gates = append(gates, gate.Identity())
		}
	}
	if len(gates) == 0 {
		return "", nil
	}
	missing, err := record.Unpassed(ctx, r.d, r.Options, stack, gates)
	if err != nil || len(missing) == 0 {
		return "", err
	}
	return " has not passed the gates of its wave with what runs there now: " +
		strings.Join(lists.Map(missing, func(gate string) string { return names[gate] }), ", "), nil
}

// changedSince returns the environments that are done and yet not up to date, and the ends of their waves.
func (r *rollout) changedSince(ctx context.Context, done []string) (again []string, err error) {
	t := record.NewToday(ctx, r.Root, r.d.Version)
	o := r.Options
	o.Shared = &r.shared
	environments := slices.DeleteFunc(slices.Clone(done), func(name string) bool {
		_, chosen := r.plan.Environments[name]
		return !chosen
	})
	verdicts, err := parallel.Each(ctx, environments, func(ctx context.Context, stack string) (record.Verdict, error) {
		return t.Compare(ctx, r.d, o, stack)
	})
	if err != nil {
		return nil, err
	}
	for i, stack := range environments {
		if reasons := verdicts[i].Reasons(); len(reasons) > 0 {
			fmt.Fprintf(r.d.Stderr, "%s: runs again, because it is not up to date: %s\n", stack, strings.Join(reasons, "; "))
			again = append(again, stack, event.WavePrefix+r.plan.Waves[stack].Name)
		}
	}
	return again, nil
}

// notRolled returns why an environment is not up to date; "" if it is.
func (r *rollout) notRolled(ctx context.Context, stack string, t record.Today) (string, error) {
	o := r.Options
	o.Shared = &r.shared
	v, err := t.Compare(ctx, r.d, o, stack)
	why := strings.Join(v.Reasons(), "; ")
	switch {
	case err != nil || why == "":
		return "", err
	case v.State == record.HasChanged:
		return fmt.Sprintf(" has changed since it was rolled out (%s): %s", v.Run, strings.Join(v.Changes, ", ")), nil
	case strings.HasPrefix(why, "has "):
		return " " + why, nil
	}
	return ": " + why, nil
}
