// Package rehearsal runs the programs of an environment on simulated clouds, in a
// temporary directory, and reports the resources that they declare.
package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mara/config"
	"mara/config/lists"
	"mara/projects"
	"mara/projects/model/operation"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/machine/failure"
)

// Options say what is rehearsed.
type Options struct {
	Parallel int // projects at once
	// Selection selects the programs; the ones that they need run as well.
	Selection plan.Selection
	// Mirror overrides the configured mirror; Origins disables mirrors.
	Mirror  string
	Origins bool
	Saw     func(simulate.Object) // gets each resource; called concurrently
	// Opened gets the configuration before the programs run, and may refuse it; it may
	// be nil.
	Opened func(*session.Resolved, encryption.Copies) error
}

// Run runs the programs, and calls use with the names of the selected ones while the environment holds their resources.
func Run(ctx context.Context, d session.Deps, environment session.Options, o Options,
	use func(s *session.Reading, selected []string) error) (err error) {
	scratch, err := os.MkdirTemp("", "mara-*")
	if err != nil {
		return failure.RunnerDir(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if environment.Root == "" { // without configuration, the defaults count
		if err := os.MkdirAll(filepath.Join(scratch, config.Directory), 0o700); err != nil {
			return failure.RunnerDir(err)
		}
		environment.Root = scratch
	}
	environment.Operation, environment.NeedSecrets, environment.AtOnce = operation.Up, true, o.Parallel
	if o.Mirror != "" || o.Origins {
		mirror := config.Change{Key: projects.Mirror, Value: o.Mirror, Unset: o.Origins}
		environment.Overrides = append(environment.Overrides, mirror)
	}
	environment.Simulation = request.Simulation{On: true, Scratch: filepath.Join(scratch, "runner")}
	environment.Admit = func(_ context.Context, object any, _ bool) error {
		if object, ok := object.(simulate.Object); ok {
			o.Saw(object)
		}
		return nil
	}
	environment.Operates = true
	return session.Use(d, environment, session.ResolveToOperate, func(resolved *session.Resolved) error {
		asked, err := plan.Select(resolved.Plan, o.Selection)
		if err != nil {
			return err
		}
		s, err := open(ctx, resolved, o)
		if err != nil {
			return err
		}
		if err := run(ctx, s, asked, o.Parallel); err != nil {
			return err
		}
		return use(s, asked.Names())
	})
}

func open(ctx context.Context, s *session.Resolved, o Options) (*session.Reading, error) {
	engine, err := s.Engine(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.StartPrograms(); err != nil {
		return nil, err
	}
	copies, err := s.Vault.Copies(ctx, engine)
	if err != nil {
		return nil, err
	}
	if o.Opened != nil {
		if err := o.Opened(s, copies); err != nil {
			return nil, err
		}
	}
	if err := s.SimulateClouds(ctx); err != nil {
		return nil, err
	}
	if err := s.AttachPrograms(); err != nil {
		return nil, err
	}
	if err := s.States().Make(); err != nil {
		return nil, failure.RunnerDir(err)
	}
	return s.Read(ctx, copies)
}

// run runs the selected programs and the ones that they need. It reports only
// failures.
func run(ctx context.Context, s *session.Reading, asked plan.Plan, parallel int) error {
	needed := plan.Selection{Only: lists.Map(asked.Names(), func(name string) string { return "+" + name })}
	running, err := plan.Select(s.Plan, needed)
	if err != nil {
		return err
	}
	stop, release := s.Deps.Interrupt.Gentle()
	defer release()
	_, err = executor.Run(ctx, executor.Options{
		Plan: running, Operation: operation.Up, Stack: s.Settings.Stack.Text, Simulated: true,
		Parallel: parallel, Estimates: running.Declared(), Operator: operator{s.Stacks}, Stop: stop,
		Hook: func(context.Context, executor.HookCall, func(event.Event)) error { return nil },
	})
	if err != nil {
		return fmt.Errorf("running the programs on simulated clouds: %w", err)
	}
	return nil
}

// operator runs the program of a step.
type operator struct{ stacks *stacks.Set }

// Operate implements executor.Operator.
func (o operator) Operate(ctx context.Context, step plan.Step, emit func(event.Event)) (executor.Outcome, error) {
	outcome, err := o.stacks.Operate(ctx, stacks.Task{Operation: operation.Up, Step: step}, emit)
	return executor.Outcome{Changes: outcome.Changes, Skipped: outcome.Skipped}, err
}
