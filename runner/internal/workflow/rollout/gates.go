package rollout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/environment/hooks"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/repo/fleet"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/executor"
)

// soak waits, unless the rollout stops.
func (r *rollout) soak(ctx context.Context, length time.Duration) error {
	ctx, done := session.Waiting{Stop: r.stop}.Until(ctx)
	defer done()
	return interrupt.Sleep(ctx, length)
}

// pass waits until the environments of a wave pass a gate.
func (r *rollout) pass(ctx context.Context, w fleet.Wave, gate fleet.Gate, emit func(event.Event)) error {
	switch gate.Kind {
	case fleet.DriftGate:
		return r.each(ctx, w, func(ctx context.Context, stack string) error { return r.hasNoDrift(ctx, stack, emit) })
	case fleet.AnswersGate:
		return r.each(ctx, w, func(ctx context.Context, stack string) error { return r.answers(ctx, gate, stack, emit) })
	case fleet.RunGate:
		return r.runGate(ctx, w, gate, emit)
	case fleet.AskGate:
		return r.ask(ctx, w, gate)
	}
	return fmt.Errorf("unknown gate %q", gate.Kind)
}

func (r *rollout) members(w fleet.Wave) []string {
	var names []string
	for name := range r.plan.Environments {
		if r.plan.Waves[name].Name == w.Name {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// each calls do for all environments of a wave, and returns all errors.
func (r *rollout) each(ctx context.Context, w fleet.Wave, do func(ctx context.Context, stack string) error) error {
	names := r.members(w)
	errs := make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(r.o.AtOnce)
	for i, name := range names {
		group.Go(func() error {
			if err := do(ctx, name); err != nil {
				errs[i] = fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs
	return errors.Join(errs...)
}

func (r *rollout) hasNoDrift(ctx context.Context, stack string, emit func(event.Event)) error {
	p, err := r.operate(ctx, operation.Drift, stack, func(e event.Event) {
		if e.Type == event.RunWarning || e.Type == event.StepLog {
			emit(e)
		}
	})
	if err != nil {
		return err
	}
	return checkDrift(p.summary)
}

// checkDrift returns an error if a drift has found changes, or has compared nothing.
func checkDrift(s event.Summary) error {
	switch {
	case s.Changes.Any():
		return fmt.Errorf("differs from its state: %s; run %s", s.Changes.Words(operation.Drift), s.Run)
	case s.Results.Succeeded == 0:
		return fmt.Errorf(
			"no project of it was compared with its state; run %s; --skip-gate %s continues without", s.Run, fleet.DriftGate,
		)
	}
	return nil
}

// runGate runs the command of a gate as a hook.
func (r *rollout) runGate(ctx context.Context, w fleet.Wave, gate fleet.Gate, emit func(event.Event)) error {
	h := hooks.Hooks{
		Stack: fleet.PlanName, Root: r.Root, Directory: r.Directory(), Simulated: r.Simulation.On,
		Env: r.Sources.File.Merge(r.Sources.Process), Masker: r.masker, Log: slog.New(slog.DiscardHandler),
	}
	h.Provider.Name = fleet.PlanName
	h.Env["MARA_WAVE"], h.Env["MARA_ENVIRONMENTS"] = w.Name, strings.Join(r.members(w), " ")
	return h.Hook(r.Operation)(ctx, executor.HookCall{
		Hook: model.Hook{
			Name: w.Name, Command: []string{"sh", "-c", gate.Command}, Dir: r.Root, Simulate: gate.Simulate,
			On: model.OnSuccess,
		},
	}, emit)
}

// ask asks the user whether the rollout continues.
func (r *rollout) ask(ctx context.Context, w fleet.Wave, gate fleet.Gate) error {
	if r.Yes {
		return nil
	}
	terminal, ok := prompt.NewTerminal(r.d.Stdin, r.d.Stderr)
	if !r.Interactive || !ok {
		return fmt.Errorf("%q needs confirmation, and this is not a terminal; resume with --resume on a terminal, or "+
			"with --resume --yes", gate.Text)
	}
	yes, err := terminal.Confirm(ctx, gate.Text)
	if err == nil && !yes {
		err = &prompt.Declined{Text: "not confirmed after wave " + w.Name}
	}
	return err
}
