package operations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"mara/projects"
	"mara/providers/cloud"
	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/event"
	"mara/runner/internal/executor"
	"mara/runner/internal/fleet"
	"mara/runner/internal/hooks"
	"mara/runner/internal/interrupt"
	"mara/runner/internal/journal"
	"mara/runner/internal/prompt"
	"mara/runner/internal/reach"
	"mara/runner/internal/session"
)

// soak waits, unless the rollout stops.
func (r *rollout) soak(ctx context.Context, length time.Duration) error {
	ctx, done := session.Waiting{Stop: r.stop}.Until(ctx)
	defer done()
	return interrupt.Sleep(ctx, length)
}

// pass holds a gate against the environments of its wave.
func (r *rollout) pass(ctx context.Context, w fleet.Wave, gate fleet.Gate, emit func(event.Event)) error {
	switch gate.Kind {
	case fleet.DriftGate:
		return r.each(ctx, w, func(ctx context.Context, stack string) error { return r.hasNoDrift(ctx, stack, emit) })
	case fleet.AnswersGate:
		return r.each(ctx, w, func(ctx context.Context, stack string) error { return r.answers(ctx, stack, emit) })
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

// each does something for all environments of a wave, and tells all that is wrong.
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
	switch {
	case err != nil:
		return err
	case p.summary.Changes.Any():
		return fmt.Errorf("differs from its state: %s; run %s", p.summary.Changes.Words(operation.Drift), p.summary.Run)
	case p.summary.Results.Succeeded == 0:
		return fmt.Errorf("no project of it was compared with its state; run %s", p.summary.Run)
	}
	return nil
}

// answers asks the addresses that the environment's last up has told.
func (r *rollout) answers(ctx context.Context, stack string, emit func(event.Event)) error {
	addresses, err := r.addresses(stack)
	if err != nil {
		return err
	}
	if r.o.Simulation.On || len(addresses) == 0 {
		text := "SIMULATED: not asked: " + strings.Join(addresses, ", ")
		if len(addresses) == 0 {
			text = stack + ": has told no address to ask"
		}
		emit(event.Event{Type: event.StepLog, Severity: event.Info, Message: text})
		return nil
	}
	ask := reach.Through(cloud.Proxy(r.o.Sources.File.Merge(r.o.Sources.Process)))
	for _, address := range addresses {
		if err := ask(ctx, address); err != nil {
			return err
		}
	}
	return nil
}

// addresses are those among the outputs of the last up that told any.
func (r *rollout) addresses(stack string) ([]string, error) {
	runs, err := journal.List(r.o.Folder().Runs())
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		meta, err := run.Meta()
		if err != nil || meta.Stack != stack || !meta.Operation.Deploys() {
			continue
		}
		outputs, err := run.Outputs()
		if err != nil || len(outputs) == 0 {
			continue
		}
		var found []string
		for _, values := range outputs {
			for name, value := range values {
				if text, ok := value.(string); ok && strings.HasSuffix(name, "url") && strings.HasPrefix(text, "http") {
					found = append(found, text)
				}
			}
		}
		return slices.Compact(slices.Sorted(slices.Values(found))), nil
	}
	return nil, nil
}

// runGate runs a command of the user's, as hooks are run.
func (r *rollout) runGate(ctx context.Context, w fleet.Wave, gate fleet.Gate, emit func(event.Event)) error {
	h := hooks.Hooks{
		Stack: fleet.PlanName, Root: r.o.Root, Folder: r.o.Folder(), Simulated: r.o.Simulation.On,
		Env: r.o.Sources.File.Merge(r.o.Sources.Process), Masker: r.masker, Log: slog.New(slog.DiscardHandler),
	}
	h.Provider.Name = fleet.PlanName
	h.Env["MARA_WAVE"], h.Env["MARA_ENVIRONMENTS"] = w.Name, strings.Join(r.members(w), " ")
	return h.Hook(r.o.Operation)(ctx, executor.HookCall{
		Hook: projects.Hook{Name: w.Name, Command: []string{"sh", "-c", gate.Command}, Dir: r.o.Root, Simulate: gate.Simulate, On: projects.OnSuccess},
	}, emit)
}

// ask asks somebody whether to go on.
func (r *rollout) ask(ctx context.Context, w fleet.Wave, gate fleet.Gate) error {
	if r.o.Yes {
		return nil
	}
	terminal, ok := prompt.NewTerminal(r.d.Stdin, r.d.Stderr)
	if !r.o.Interactive || !ok {
		return fmt.Errorf("%q, and there is nobody to ask; carry on with --resume on a terminal, or with --resume --yes", gate.Text)
	}
	yes, err := terminal.Confirm(ctx, gate.Text)
	if err == nil && !yes {
		err = &cmd.Declined{Text: "not confirmed after wave " + w.Name}
	}
	return err
}
