// Package session opens an environment for work and closes it again. A command
// composes the steps that it needs: resolve the settings, lock, start the
// engine, unlock the key (see package vault), simulate the clouds, open the
// stacks. Close puts everything away.
package session

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync/atomic"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/environment/checkout"
	"mara/runner/internal/environment/hooks"
	"mara/runner/internal/environment/leftovers"
	"mara/runner/internal/environment/runlock"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/preflight"
	"mara/runner/internal/pulumi/engine"
	"mara/runner/internal/pulumi/profile"
	"mara/runner/internal/pulumi/programhost"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/repo/stackfiles"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/secrets/encryption"
	"mara/runner/internal/secrets/vault"
	"mara/runner/internal/simulation/simulated"
	"mara/runner/internal/state/statefiles"
)

// Session is an environment, as far as steps have opened it for work.
type Session struct {
	Deps     Deps
	Options  Options
	Masker   *event.Masker
	Log      *slog.Logger     // of --debug
	Profile  *profile.Profile // nil unless it is asked for
	Warnings []string         // to begin the run with

	// Known once the settings are resolved.
	Settings  config.Settings
	Provider  providers.Provider // zero where nobody has named one yet
	Plan      plan.Plan
	Env       map[string]string // of Pulumi and its plugins
	Directory layout.Runner
	Vault     *vault.Vault

	Held   *Held       // known once the environment is locked
	Stacks *stacks.Set // known once they are open
	// Unchanged says of every project that is selected since which run nothing has
	// changed, where that is so for all: nothing was started to run them.
	Unchanged map[string]string
	MadeUp    []string // configuration that a simulation has made up

	plugins  map[string]string // resource providers beside the runner, with their directories
	engine   engine.Engine     // nil until it is started
	programs *programhost.Host // nil until they are started
	tell     atomic.Pointer[func(warning string)]
	closers  []func() error
}

// New is a session that is not open yet. Close it after use.
func New(d Deps, o Options) *Session {
	masker := event.NewMasker()
	s := &Session{Deps: d, Options: o, Masker: masker, Log: newLog(d, o.Debug, masker)}
	if o.Profile {
		s.Profile = profile.New(d.Now)
	}
	return s
}

// Use opens a session by a step, does something with it, and closes it.
func Use(d Deps, o Options, open, do func(*Session) error) (err error) {
	s := New(d, o)
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := open(s); err != nil {
		return err
	}
	return do(s)
}

// Close ends what the session has started, unlocks, and removes working copies.
func (s *Session) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// OnClose has Close call a function, the last one first.
func (s *Session) OnClose(closer func() error) { s.closers = append(s.closers, closer) }

// OnWarning passes on what comes up while a run goes on.
func (s *Session) OnWarning(tell func(text string)) { s.tell.Store(&tell) }

func (s *Session) warn(text string) {
	if tell := s.tell.Load(); tell != nil {
		(*tell)(text)
	}
}

// Engine starts when it is first needed, and warms up in the background.
func (s *Session) Engine(ctx context.Context) (engine.Engine, error) {
	if s.engine != nil {
		return s.engine, nil
	}
	start := engine.Start
	if s.Options.Shared != nil {
		start = s.Options.Shared.engine
	}
	e, stop, err := start(ctx, engine.Options{
		Installed: s.Options.Pulumi, Embedded: s.Deps.Engines, Workers: s.Options.workers(s.Plan.Width()),
		Interrupt: s.Deps.Interrupt, Log: s.Log, Now: s.Deps.Now, Watch: s.Profile.Watch,
	})
	if err != nil {
		return nil, err
	}
	s.OnClose(stop)
	s.engine = e
	return e, nil
}

// SimulateClouds serves the simulated clouds, and lets Pulumi know where.
func (s *Session) SimulateClouds(ctx context.Context) error {
	env, warnings, err := simulated.Serve(ctx, simulated.Options{
		Flags: s.Options.Simulation, Admit: s.Options.Admit, Dir: s.Deps.Dir, Directory: s.Directory.Clouds(s.Settings.Stack.Text),
		Home:    preflight.PulumiHome(s.Options.Sources.File.Merge(s.Options.Sources.Process)),
		BuiltIn: s.Deps.Clouds(), Own: s.Provider.Own(), States: s.States(), Charts: layout.Of(s.Settings.Root, false).Charts(), Env: s.Env,
		Masker: s.Masker, Log: s.Log, OnClose: s.OnClose, Warn: s.warn,
	})
	s.Warnings = append(s.Warnings, warnings...)
	if err != nil {
		return err
	}
	maps.Copy(s.Env, env)
	return linkHosts(s)
}

// OpenStacks asks the backend which of the environment's stacks exist. Operations
// on them run in the directory work, on these copies of the stack files. Where the
// backend cannot have any, it is not asked. The error is a
// *statefiles.BrokenError where states cannot be read.
func (s *Session) OpenStacks(ctx context.Context, work string, copies encryption.Copies) error {
	o := stacks.Options{
		Stack:       s.Settings.Stack.Text,
		Names:       s.Options.Known().StackNames(),
		Projects:    s.Scope().Projects,
		WorkDir:     work,
		StackFile:   copies.Stack,
		SecretsFile: copies.Secrets,
		Env:         s.States().CommandEnv(s.Env),
		Plugins:     s.plugins,
		Masker:      s.Masker,
		States:      s.States(),
		Empty:       !s.States().MayHaveStates(),
	}
	var err error
	if o.Directories, err = s.Checkouts().Own(s.Provider.Own(), copies); err != nil {
		return err
	}
	if o.Command, err = s.Engine(ctx); err != nil {
		return err
	}
	if o.Organization, err = s.Organization(ctx, work); err != nil {
		return err
	}
	if s.Options.Shared != nil && s.States().IsFile() && request.ProviderBefore(s.Directory, s.Settings, s.Provider.Name) == "" {
		o.Direct = s.Provider.Names()
	}
	s.Stacks, err = stacks.Open(ctx, o)
	var broken []statefiles.Broken
	var unread error
	switch {
	case err != nil && ctx.Err() == nil:
		broken, unread = s.States().Broken(s.Scope().Projects)
	case err == nil && o.Direct != nil: // Pulumi has not listed the stacks, and stumbled over them
		broken, unread = s.States().BrokenSidecars(s.Scope().Projects)
	}
	if len(broken) > 0 {
		err = &statefiles.BrokenError{Broken: broken, Repair: s.Command("repair")}
	}
	err = errors.Join(err, unread)
	s.Profile.Lap("list of stacks")
	return err
}

// OpenKnown opens stacks whose states are files, to read them without an engine.
func (s *Session) OpenKnown() error {
	own := s.Scope()
	o := stacks.Options{
		Stack: own.Environment, Names: own.Names, Projects: own.Projects, Organization: "organization",
		Env: s.Env, Masker: s.Masker, States: s.States(),
	}
	var err error
	if o.Standings, err = o.StandingsIn(own.Projects); err != nil {
		return err
	}
	o.Command = engine.None{}
	s.Stacks, err = stacks.Open(context.Background(), o)
	return err
}

// OpenStacksToRead is OpenStacks for commands that change nothing.
func (s *Session) OpenStacksToRead(ctx context.Context, copies encryption.Copies) error {
	work, err := s.TempDir()
	if err != nil {
		return err
	}
	return s.OpenStacks(ctx, work, copies)
}

// OpenToReveal opens the stacks with the key that decrypts what they hold, for a
// command that changes nothing. The settings are resolved before.
func OpenToReveal(ctx context.Context, s *Session) error {
	engine, err := s.Engine(ctx)
	if err != nil {
		return err
	}
	copies, err := s.Vault.CopiesToRead(ctx, engine)
	if err != nil {
		return err
	}
	return s.OpenStacksToRead(ctx, copies)
}

// OptionsToRead are what questions to the backend need that run no program.
func (s *Session) OptionsToRead(ctx context.Context) (o stacks.Options, err error) {
	o = stacks.Options{Stack: s.Settings.Stack.Text, Names: s.Options.Known().StackNames(), Env: s.Env, Masker: s.Masker}
	if o.Command, err = s.Engine(ctx); err != nil {
		return o, err
	}
	if o.WorkDir, err = s.TempDir(); err != nil {
		return o, err
	}
	o.Organization, err = s.Organization(ctx, o.WorkDir)
	return o, err
}

// Organization is the first part of the names of stacks: fixed on self-managed
// backends, the user's choice on Pulumi Cloud.
func (s *Session) Organization(ctx context.Context, dir string) (string, error) {
	if !s.Settings.Managed() {
		return "organization", nil
	}
	e, err := s.Engine(ctx)
	if err != nil {
		return "", err
	}
	return stacks.Organization(ctx, e, dir, s.Env)
}

// deployedSalt returns the salt of the environment's states, "" when there is none.
// Other states in the backend do not count, whatever the names of their stacks.
func (s *Session) deployedSalt(ctx context.Context) (string, error) {
	states := s.States()
	if states.IsFile() {
		return states.Salt(sharingKey(s))
	}
	o, err := s.OptionsToRead(ctx)
	if err != nil {
		return "", err
	}
	o.Projects = sharingKey(s)
	deployed, err := stacks.Open(ctx, o)
	if err != nil {
		return "", err
	}
	return deployed.Salt(ctx)
}

// GuardStates guards the states against a full disk until the session closes.
func (s *Session) GuardStates() {
	s.OnClose(s.States().Guard(s.Plan.Names(), s.warn, s.Log))
}

// States is the directory with the states, if the backend keeps files.
func (s *Session) States() statefiles.Directory {
	directory, _ := s.Settings.StateDir()
	return statefiles.Directory{Path: directory, Stack: s.Settings.Stack.Text, Names: s.Options.Known().StackNames()}
}

// Checkouts makes directories for plain Pulumi to work in.
func (s *Session) Checkouts() checkout.Maker {
	return checkout.Maker{Settings: s.Settings, Files: stackfiles.Files{Root: s.Settings.Root, Stack: s.Settings.Stack.Text}, States: s.States(), Plugins: s.plugins, TempDir: s.TempDir}
}

// Leftovers finds what earlier runs have left on the stacks.
func (s *Session) Leftovers() leftovers.Finder {
	return leftovers.Finder{
		Stacks: s.Stacks, States: s.States(), LockStore: s.RunLock().OnStacks, Command: s.Command, Terms: termsOf(s),
		Wait: s.Options.LockTimeout, Waiting: s.Options.Waiting.teller(s.Deps.Stderr),
		Locate: locator(s), Projects: s.Scope().Projects,
	}
}

// FindLeftovers finds what is in an operation's way, and waits for others at work.
func FindLeftovers(ctx context.Context, s *Session, p plan.Plan, resume, ask bool) (leftovers.Found, error) {
	ctx, done := s.Options.Waiting.Until(ctx)
	defer done()
	return s.Leftovers().Find(ctx, s.Options.Operation, p, resume, ask)
}

// Hooks are the hooks of the environment's runs.
func (s *Session) Hooks() hooks.Hooks {
	return hooks.Hooks{
		Stacks: s.Stacks, Provider: s.Provider, Stack: s.Settings.Stack.Text, Root: s.Settings.Root, Env: s.Env, Directory: s.Directory,
		Simulated: s.Options.Simulation.On, Beside: s.Options.Shared != nil, Runtime: s.Settings.Config.Text("kind:runtime").Text, Masker: s.Masker, Log: s.Log,
	}
}

// Command is a command on the same environment, for people to type.
func (s *Session) Command(name string) string {
	return "runner " + name + " -s " + s.Settings.Stack.Text + s.Options.Simulation.Flag()
}

// Environment names what runs are about.
func (s *Session) Environment() journal.Environment {
	return journal.Environment{Provider: s.Provider.Name, Stack: s.Settings.Stack.Text}
}

// RunLock is the environment's lock.
func (s *Session) RunLock() runlock.Lock {
	return runlock.Lock{
		File:     s.Directory.Lock(s.Provider.Name, s.Settings.Stack.Text),
		Settings: s.Settings, States: s.States(), Env: s.Env, Wait: s.Options.LockTimeout, Waiting: s.Options.Waiting.teller(s.Deps.Stderr),
		Engine: s.Engine,
		Embedded: func() (bool, error) {
			found, err := engine.Find(s.Deps.Engines, s.Options.Pulumi)
			return found.Embedded, err
		},
		OnClose: s.OnClose,
		Warn:    func(text string) { s.Warnings = append(s.Warnings, text) },
	}
}
