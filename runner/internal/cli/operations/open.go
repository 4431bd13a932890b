package operations

import (
	"context"
	"errors"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/doctor"
	"mara/runner/internal/environment/identity"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/pulumi/dependencies"
	"mara/runner/internal/pulumi/engine"
	"mara/runner/internal/run/plan"
)

// open opens an environment for an operation. It looks for problems before
// anything changes, and reports all of them at once.
func open(ctx context.Context, d cmd.Deps, o operateOptions) (*session.Session, error) {
	s := session.New(d.Deps, o.Options)
	err := openSteps(ctx, s, o)
	if err == nil {
		return s, nil
	}
	return nil, doctor.AllProblems(ctx, d.Deps, s.Options, errors.Join(err, s.Close()))
}

func openSteps(ctx context.Context, s *session.Session, o operateOptions) error {
	if err := s.ResolveToOperate(); err != nil {
		return err
	}
	if o.Refusal != nil {
		return o.Refusal
	}
	if err := identity.CheckBackend(s, o.NewBackend); err != nil {
		return err
	}
	held, err := s.Lock(ctx, string(o.Operation))
	if err != nil {
		return err
	}
	if err := s.Vault.RefuseHalfChanged(ctx); err != nil {
		return err
	}
	idle := openUnchanged(ctx, s, o)
	if s.Profile.Lap("fingerprints"); idle {
		return nil
	}
	checked := doctor.StartChecks(ctx, s)
	e, err := s.Engine(ctx)
	if err != nil {
		return err
	}
	if o.Operation.RunsPrograms() {
		if err := s.StartPrograms(); err != nil {
			return err
		}
		if err := install(ctx, s, e, checked); err != nil {
			return err
		}
	}
	if o.NeedSecrets && s.Vault.KeepsSomething() { // before the questions of a run that would fail
		if err := checked(); err != nil {
			return err
		}
	}
	if err := s.Vault.Provide(ctx); err != nil {
		return err
	}
	copies, err := s.Vault.Copies(ctx, e)
	if err != nil {
		return err
	}
	s.Generated = copies.Generated
	s.Profile.Lap("passphrase key")
	if o.Simulation.On {
		if err := s.SimulateClouds(ctx); err != nil {
			return err
		}
	}
	s.Profile.Lap("clouds")
	if o.Operation.RunsPrograms() {
		if err := s.Vault.Learn(ctx); err != nil {
			return err
		}
		if err := s.AttachPrograms(); err != nil {
			return err
		}
	}
	s.Profile.Lap("programs")
	if err := held.OpenStacks(ctx, copies, o.restore); err != nil {
		return err
	}
	if err := identity.CheckProvider(s); err != nil {
		return err
	}
	if !o.Operation.RunsPrograms() {
		if err := identity.CheckKnown(s); err != nil {
			return err
		}
	}
	s.GuardStates()
	err = checked()
	s.Profile.Lap("checks")
	return err
}

// install installs missing dependencies, after the checks have found the languages.
func install(ctx context.Context, s *session.Session, e engine.Engine, checked func() error) error {
	selected, err := plan.Select(s.Plan, s.Options.Selection)
	if err != nil {
		return nil // chooseWork reports it
	}
	missing := dependencies.Missing(s.Settings.Root, selected)
	if len(missing) == 0 {
		return nil
	}
	if err := checked(); err != nil {
		return err
	}
	installer := dependencies.Installer{
		Root: s.Settings.Root, Command: e, Env: s.Env, Plugins: !s.Options.Simulation.On, Masker: s.Masker,
		Stderr: s.Deps.Stderr,
	}
	return installer.Install(ctx, missing)
}
