package operate

import (
	"context"
	"errors"
	"slices"

	"mara/config"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/identity"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/unchanged"
	"mara/runner/internal/machine/failure"
)

// open opens an environment for an operation. It looks for problems before
// anything changes, and reports all of them at once.
func open(ctx context.Context, d session.Deps, r Request) (*session.Open, error) {
	s, err := session.ResolveToOperate(d, r.options())
	var opened *session.Open
	if err == nil {
		opened, err = r.open(ctx, s)
	} else if unknown := r.checkNew(ctx, s); unknown != nil { // what it lacks does not matter then
		err = unknown
	}
	if err == nil {
		return opened, nil
	}
	if _, refused := errors.AsType[*identity.Refusal](err); refused {
		return nil, errors.Join(err, s.Close())
	}
	if err = errors.Join(err, s.Close()); d.Explain != nil {
		err = d.Explain(ctx, d, s.Options, err)
	}
	return nil, err
}

// options are those of an operation, whose programs run.
func (r Request) options() session.Options {
	o := r.SessionOptions()
	o.Operates = true
	return o
}

func (r Request) open(ctx context.Context, s *session.Resolved) (*session.Open, error) {
	if r.Refusal != nil {
		return nil, r.Refusal
	}
	if len(s.Plan.Steps) == 0 && !r.Removal.Orphans {
		return nil, &failure.Environment{
			Text: "there are no projects in " + config.MaraFile, Next: "`runner adopt --update` adds those below this directory",
		}
	}
	if err := identity.CheckBackend(ctx, s, r.NewBackend); err != nil {
		return nil, err
	}
	if err := r.checkPlace(ctx, s); err != nil {
		return nil, err
	}
	locked, err := s.Lock(ctx, string(r.Operation))
	if err != nil {
		return nil, err
	}
	if err := s.Vault.RefuseHalfChanged(ctx); err != nil {
		return nil, err
	}
	idle := r.openUnchanged(ctx, locked)
	if s.Profile.Lap("fingerprints"); idle != nil {
		return idle, nil
	}
	checks := s.Check(ctx)
	e, err := s.Engine(ctx)
	if err != nil {
		return nil, err
	}
	if r.Operation.RunsPrograms() {
		if err := s.StartPrograms(); err != nil {
			return nil, err
		}
		if err := install(ctx, s, e, checks); err != nil {
			return nil, err
		}
	}
	if r.NeedSecrets && s.Vault.KeepsSomething() { // before the questions of a run that would fail
		if err := checks.Needed(nil); err != nil {
			return nil, err
		}
	}
	if err := s.Vault.Provide(ctx); err != nil {
		return nil, err
	}
	copies, err := s.Vault.Copies(ctx, e)
	if err != nil {
		return nil, err
	}
	s.Profile.Lap("passphrase key")
	if r.Simulation.On {
		if err := s.SimulateClouds(ctx); err != nil {
			return nil, err
		}
	}
	s.Profile.Lap("clouds")
	if r.Operation.RunsPrograms() {
		if err := s.Vault.Learn(ctx); err != nil {
			return nil, err
		}
		if err := s.AttachPrograms(); err != nil {
			return nil, err
		}
	}
	s.Profile.Lap("programs")
	open, err := locked.Open(ctx, copies, r.Repair)
	if err != nil {
		return nil, err
	}
	if err := identity.CheckProvider(open.Reading); err != nil {
		return nil, err
	}
	if !r.Operation.RunsPrograms() {
		if err := identity.CheckKnown(open.Reading); err != nil {
			return nil, err
		}
	}
	s.GuardStates()
	err = checks.Needed(open.Stacks)
	if err == nil {
		err = checks.Claimed(open.Stacks)
	}
	checks.Offered(open.Stacks)
	s.Profile.Lap("checks")
	return open, err
}

// checkPlace refuses an operation where the environment would be deployed a second time: in another backend than its
// own, or under a misspelled name. A preview of the wrong place only warns, for a preview in CI may have no access to
// the right one, unless its exit code tells of changes.
func (r Request) checkPlace(ctx context.Context, s *session.Resolved) error {
	if !r.NewBackend {
		err := identity.CheckPlace(ctx, s)
		if _, known := errors.AsType[*failure.Environment](err); known && !r.Operation.Writes() && !r.Strict {
			s.Warnings = append(s.Warnings, err.Error())
		} else if err != nil {
			return err
		}
	}
	return r.checkNew(ctx, s)
}

// checkNew refuses an environment that nothing knows, unless it is to be made.
func (r Request) checkNew(ctx context.Context, s *session.Resolved) error {
	if !r.Operation.RunsPrograms() || !s.Settings.Stack.IsSet() {
		return nil
	}
	if r.New {
		if unlisted := identity.Unlisted(s.Options.Request, s.Settings.Stack.Text); unlisted != "" {
			s.Warnings = append(s.Warnings, unlisted)
		}
		return nil
	}
	warning, err := identity.CheckNew(ctx, s)
	if warning != "" {
		s.Warnings = append(s.Warnings, warning)
	}
	if terminal, canAsk := r.Terminal(s.Deps); err != nil && canAsk && !r.Yes {
		return identity.AskNew(ctx, terminal, err)
	}
	return err
}

// AgreeNew asks whether an environment that nothing knows is to be made, before other questions about it. What it is
// told counts for the whole request.
func (r Request) AgreeNew(ctx context.Context, d session.Deps) (Request, error) {
	stack, err := config.ResolveStack(r.Stack, r.Sources)
	if _, canAsk := r.Terminal(d); err != nil || !stack.IsSet() || !canAsk || r.Root == "" || r.New || !r.Operation.RunsPrograms() {
		return r, nil //nolint:nilerr // opening reports it
	}
	if identity.CheckNewFile(r.Options.Request, stack.Text) == nil {
		return r, nil // files know it, which is the usual case
	}
	s, err := session.ResolveToOperate(d, r.options())
	defer func() { _ = s.Close() }()
	if err != nil && !s.Settings.Stack.IsSet() {
		return r, nil //nolint:nilerr // opening reports it
	}
	err = r.checkNew(ctx, s)
	r.New = err == nil
	return r, err
}

// install installs missing dependencies, after the checks have found the languages.
func install(ctx context.Context, s *session.Resolved, e engine.Engine, checks session.Checking) error {
	selected, err := plan.Select(s.Plan, s.Options.Selection)
	if err != nil {
		return nil // choose reports it
	}
	missing := Missing(s.Settings.Root, selected)
	if len(missing) == 0 {
		return nil
	}
	if err := checks.Needed(nil); err != nil {
		return err
	}
	installer := Installer{
		Root: s.Settings.Root, Command: e, Env: s.Env, Plugins: !s.Options.Simulation.On, Masker: s.Masker,
		Stderr: s.Deps.Stderr,
	}
	return installer.Install(ctx, missing)
}

// openUnchanged opens the environment without an engine if all selected projects are
// unchanged, and returns nil if they are not. It needs a backend of files, which can be read without an engine.
func (r Request) openUnchanged(ctx context.Context, s *session.Locked) *session.Open {
	if !r.maySkip() || !s.States().IsFile() || !s.States().MayHaveStates() || s.TakenOver || r.judges() ||
		r.Rest.IsAsked() || r.Repair || len(r.Secrets.Sources) > 0 || r.Secrets.Generate ||
		len(s.Provider.Hooks) > 0 {
		return nil
	}
	if request.ProviderBefore(s.Directory, s.Settings, s.Provider.Name) != "" {
		return nil // the usual way compares the providers
	}
	selected, err := plan.Select(s.Plan, r.Selection)
	if err != nil || len(selected.Steps) == 0 {
		return nil // choose reports it
	}
	if broken, err := s.States().BrokenSidecars(s.Plan.Names()); err != nil || len(broken) > 0 {
		return nil // they have to be repaired first
	}
	if locks, err := s.Locks(ctx, selected.Names()); err != nil || len(locks) > 0 {
		return nil // what has them may be changing states
	}
	known, err := s.ReadKnown()
	if err != nil {
		return nil // a state cannot be read; the usual way says more
	}
	open := &session.Open{Reading: known, Held: s}
	u := unchanged.New(open, true)
	isAwake := func(g guard.Guard) bool { return !g.MayRest(ctx, known) }
	if u == nil || slices.ContainsFunc(r.Guards.All, isAwake) {
		return nil
	}
	since := map[string]string{}
	for _, step := range selected.Steps {
		if since[step.Project.Name] = u.FindRun(ctx, step); since[step.Project.Name] == "" {
			return nil
		}
	}
	open.Unchanged = since
	return open
}
