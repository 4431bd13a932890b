package operations

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/fleet"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/executor"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/run/plan"
)

// Operate implements executor.Operator: a step is an environment or a wave's end.
func (r *rollout) Operate(ctx context.Context, step plan.Step, emit func(event.Event)) (executor.Outcome, error) {
	if !fleet.IsEnvironment(step.Project.Name) {
		return r.endWave(ctx, step.Project.Name, emit)
	}
	p, err := r.operate(ctx, r.o.Operation, step.Project.Name, emit)
	if p.summary.Run != "" {
		r.ran.Store(step.Project.Name, p.summary.Run)
	}
	outcome := executor.Outcome{Changes: p.summary.Changes}
	if since := p.unchanged(); err == nil && since != "" {
		outcome.Skipped, outcome.Unchanged = "unchanged since "+since, since
	}
	return outcome, err
}

// operate runs an operation on one environment, as the command for one does.
func (r *rollout) operate(
	ctx context.Context, op operation.Operation, stack string, emit func(event.Event),
) (*part, error) {
	p := &part{emit: emit, stop: r.stop, room: r.room, operation: op, rollout: r.run.journal.ID(), resumes: r.resumes}
	o := r.request(op, stack, p)
	o.Waiting = session.Waiting{Stop: r.stop, Tell: func(text string) {
		emit(event.Event{Type: event.StepLog, Severity: event.Warning, Message: text})
	}}
	d := discard(r.d, func(line string) {
		emit(event.Event{Type: event.StepLog, Severity: event.Info, Message: line})
	})
	return p, p.err(runOperate(ctx, d, o))
}

// request returns the options of an operation on one environment. It names each option that a rollout passes on,
// so that no other reaches an environment. A gate looks at the whole environment, whatever the rollout selects,
// resumes or allows: it gets the options that say how to run, and no others.
func (r *rollout) request(op operation.Operation, stack string, p *part) operateOptions {
	asked := r.o.operateOptions
	o := operateOptions{
		Common: cmd.Common{
			Options: session.Options{
				Request: asked.Of(stack), Operation: op, Pulumi: asked.Pulumi, LockTimeout: asked.LockTimeout, Shared: &r.shared,
				NeedSecrets: op.RunsPrograms(), Overrides: asked.Overrides, AtOnce: asked.AtOnce,
			},
			Invocation: cmd.Invocation{Output: "text", Yes: true},
		},
		part:          p,
		policyOptions: policyOptions{Parallel: asked.Parallel, Resources: asked.Resources},
	}
	o.Interactive = false
	o.resetResults()
	if op != asked.Operation {
		return o
	}
	o.Options.Selection, o.Secrets = asked.Options.Selection, asked.Secrets
	o.policyOptions, o.Selection = asked.policyOptions, asked.Selection
	o.Force, o.Deep, o.Allow = asked.Force, asked.Deep, asked.Allow
	o.NewBackend, o.missingOutput = asked.NewBackend, asked.missingOutput
	o.Remove, o.Forget, o.LeaveBehind, o.carried = asked.Remove, asked.Forget, asked.LeaveBehind, asked.carried
	if o.Selection.ofLastRun() {
		o.Narrow = o.selectRest
	}
	return o
}

// endWave lets a wave soak, and waits for its gates. A destroy has neither.
func (r *rollout) endWave(ctx context.Context, step string, emit func(event.Event)) (executor.Outcome, error) {
	w, ends := r.plan.Ends(step)
	if !ends || !r.o.Operation.Deploys() {
		return executor.Outcome{Skipped: "nothing to wait for"}, nil
	}
	if w.Soak == 0 && len(w.Gates) == 0 {
		return executor.Outcome{Skipped: "the wave is done"}, nil
	}
	if w.Soak > 0 {
		if err := hooked(
			emit, "soak "+event.FormatDuration(w.Soak), func() error { return r.soak(ctx, w.Soak) },
		); err != nil {
			return executor.Outcome{}, err
		}
	}
	for _, gate := range w.Gates {
		if r.isStopping() {
			return executor.Outcome{}, interrupt.ErrInterrupted
		}
		if slices.Contains(r.o.SkipGates, gate.Kind) {
			emit(event.Event{
				Type: event.RunWarning, Message: fmt.Sprintf("gate %s of wave %s is skipped by --skip-gate", gate, w.Name),
			})
			continue
		}
		if err := hooked(emit, "gate "+gate.String(), func() error { return r.pass(ctx, w, gate, emit) }); err != nil {
			return executor.Outcome{}, fmt.Errorf("gate %s: %w", gate, err)
		}
	}
	return executor.Outcome{}, nil
}

// isStopping reports whether an interrupt has asked that nothing new starts.
func (r *rollout) isStopping() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// hooked calls do between the events of a hook.
func hooked(emit func(event.Event), name string, do func() error) error {
	began := time.Now()
	emit(event.Event{Type: event.HookStarted, Hook: name})
	err := do()
	e := event.Event{
		Type: event.HookFinished, Hook: name, Result: event.Succeeded, DurationMS: time.Since(began).Milliseconds(),
	}
	if err != nil {
		e.Result, e.Error = event.Failed, err.Error()
	}
	emit(e)
	return err
}

// environmentsIn returns the environments that a rollout works on.
func environmentsIn(p plan.Plan) []string {
	return slices.DeleteFunc(p.Names(), func(name string) bool { return !fleet.IsEnvironment(name) })
}

func (r *rollout) approve(ctx context.Context, w work) error {
	environments := environmentsIn(w.plan)
	if !r.o.needsApproval() || len(environments) == 0 {
		return nil
	}
	terminal, ok := prompt.NewTerminal(r.d.Stdin, r.d.Stderr)
	if !r.o.Interactive || !ok {
		if r.o.Operation.Deploys() && r.o.Simulation.On {
			return nil
		}
		return &failure.Usage{
			Text: fmt.Sprintf("fleet %s needs confirmation, and this is not a terminal", r.o.command()),
			Next: "add --yes to skip the confirmation",
		}
	}
	fmt.Fprintf(
		r.d.Stderr, "%s of %s: %s\n", r.o.Operation, typeset.Counted(len(environments), "environment"),
		strings.Join(environments, ", "),
	)
	if r.o.Operation.Destroys() {
		answer, err := terminal.Text(ctx, "This destroys everything in them. Type their number to continue:")
		return cmd.Agreed(answer == fmt.Sprint(len(environments)), err)
	}
	return cmd.Agreed(terminal.Confirm(ctx, fmt.Sprintf("%s all of them?", r.o.Operation)))
}

func (r *rollout) durations() map[string]time.Duration {
	return journal.Durations(
		r.o.Directory().Rollouts(), journal.DurationQuery{Environment: fleetRuns(), Operation: r.o.Operation},
	)
}

func (r *rollout) projects() map[string]int {
	known := map[string]int{}
	for name, e := range r.plan.Environments {
		if provider, err := r.o.Known().ByName(e.Provider); err == nil {
			known[name] = len(provider.Steps)
		}
	}
	return known
}

// asks reports whether there will be questions, which a live view would paint over.
func (r *rollout) asks(p plan.Plan) bool {
	return r.o.Operation.Deploys() && !r.o.Yes && slices.ContainsFunc(p.Names(), func(name string) bool {
		w, ends := r.plan.Ends(name)
		return ends && slices.ContainsFunc(w.Gates, func(g fleet.Gate) bool { return g.Kind == fleet.AskGate })
	})
}

// dirty ends a commit from which files differ.
const dirty = "+changes"

// commitOf returns the root's commit, marked if files differ from it, or "" for none.
func commitOf(ctx context.Context, root string) string {
	commit, err := gitIn(ctx, root, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return ""
	}
	if changed, err := gitIn(ctx, root, "status", "--porcelain", "--", "."); err == nil && changed != "" {
		commit += dirty
	}
	return commit
}

// gitIn runs a command of git in a directory, and returns its output.
func gitIn(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	out, err := command.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
