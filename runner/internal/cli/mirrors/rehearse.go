package mirrors

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"mara/config"
	"mara/projects"
	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/event"
	"mara/runner/internal/executor"
	"mara/runner/internal/failure"
	"mara/runner/internal/plan"
	"mara/runner/internal/session"
	"mara/runner/internal/simulate"
	"mara/runner/internal/stacks"
)

// rehearse runs all programs of an environment on simulated clouds, in a folder
// that goes when the session closes, and shows what they declare. The mirror
// takes the place of the configured one; without one, everything has the name
// that it has at its origin.
func rehearse(ctx context.Context, d cmd.Deps, o session.Options, mirror string, saw func(project, token string, inputs map[string]any)) (*session.Session, error) {
	s := session.New(d.Deps, o)
	scratch, err := s.TempFolder()
	if err != nil {
		return s, err
	}
	if s.Options.Root == "" { // without configuration, the defaults count
		if err := os.MkdirAll(filepath.Join(scratch, config.Folder), 0o700); err != nil {
			return s, failure.RunnerFolder(err)
		}
		s.Options.Root = scratch
	}
	s.Options.Operation, s.Options.NeedSecrets, s.Options.AtOnce = operation.Up, true, cmd.DefaultParallel
	s.Options.Overrides = append(s.Options.Overrides, config.Change{Key: projects.Mirror, Value: mirror, Unset: mirror == ""})
	s.Options.Simulation = session.Simulation{
		On: true, Scratch: filepath.Join(scratch, "runner"),
		Admit: func(_ context.Context, o simulate.Object, _ bool) error {
			saw(o.URN.Project().String(), o.Token, o.Inputs())
			return nil
		},
	}
	if err := open(ctx, s); err != nil {
		return s, err
	}
	return s, run(ctx, d, s)
}

// open opens the simulated environment.
func open(ctx context.Context, s *session.Session) error {
	if err := s.ResolveToOperate(); err != nil {
		return err
	}
	engine, err := s.Engine(ctx)
	if err != nil {
		return err
	}
	if err := s.StartPrograms(); err != nil {
		return err
	}
	copies, err := s.Vault.Copies(ctx, engine)
	if err != nil {
		return err
	}
	if err := s.SimulateClouds(ctx); err != nil {
		return err
	}
	if err := s.AttachPrograms(); err != nil {
		return err
	}
	if err := s.States().Make(); err != nil {
		return failure.RunnerFolder(err)
	}
	return s.OpenStacksToRead(ctx, copies)
}

// run runs the programs. Only a failure is told.
func run(ctx context.Context, d cmd.Deps, s *session.Session) error {
	stop, release := d.Gentle()
	defer release()
	_, err := executor.Run(ctx, executor.Options{
		Plan: s.Plan, Operation: operation.Up, Stack: s.Settings.Stack.Text, Simulated: true,
		Parallel: cmd.DefaultParallel, Estimates: s.Plan.Declared(), Operator: operator{s.Stacks}, Stop: stop,
		Hook: func(context.Context, executor.HookCall, func(event.Event)) error { return nil },
	})
	if err != nil {
		return fmt.Errorf("the programs were run on simulated clouds, and failed: %w", err)
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
