// Package session opens an environment for work: it resolves the settings,
// locks the environment, starts the engine and the checks, asks for the
// passphrase and the secrets that are missing, starts simulated clouds and asks
// the backend which stacks exist. Commands do their work on the open session,
// and Close puts everything away again.
//
// Whoever only looks opens less: the doctor examines what an operation would
// find, the commands about secrets need no stacks.
package session

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync/atomic"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/encryption"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/layout"
	"mara/runner/internal/lock"
	"mara/runner/internal/plan"
	"mara/runner/internal/simulate"
	"mara/runner/internal/stacks"
)

// Session is an environment that is open for work: its settings, its plan, the
// engine, and the clouds if they are simulated.
type Session struct {
	Settings config.Settings
	Provider providers.Provider
	Plan     plan.Plan
	Stacks   *stacks.Environment
	Masker   *event.Masker
	Env      map[string]string // of Pulumi and its plugins
	Folder   layout.Runner
	RunID    string     // of the run that holds the environment's lock
	Owner    lock.Owner // of that lock
	Warnings []string   // to begin the run with
	MadeUp   []string   // configuration a simulation made up
	Restored bool       // states, that were broken
	Profile  *Profile   // nil unless it is asked for

	log       *slog.Logger                         // of --debug
	tell      atomic.Pointer[func(warning string)] // what comes up during a run; nil before it
	deps      Deps
	options   Options
	engine    engine                                          // nil until it is started
	plugins   map[string]string                               // resource providers beside the runner, with their folders
	ask       func(ctx context.Context, address string) error // whether an application answers; nil for the network
	takenOver bool                                            // the lock, from a run that did not end properly
	closers   []func() error
}

// Need is what a session is opened for.
type Need int

// What there is to open for.
const (
	ToLook    Need = iota // at what is known without a key
	ToReveal              // outputs, which may be encrypted
	ToOperate             // on stacks, with clouds
)

// Open opens the environment that the options choose. Every problem that
// can be found before anything changes is found here, and for an operation all
// of them are told at once.
func Open(ctx context.Context, d Deps, o Options, why Need) (*Session, error) {
	s := New(d, o)
	err := s.open(ctx, why)
	if err == nil {
		return s, nil
	}
	err = errors.Join(err, s.Close())
	if why == ToOperate {
		err = allProblems(ctx, d, o, err)
	}
	return nil, err
}

// OnWarning has told what comes up while a run goes on.
func (s *Session) OnWarning(tell func(text string)) { s.tell.Store(&tell) }

func (s *Session) warn(text string) {
	if tell := s.tell.Load(); tell != nil {
		(*tell)(text)
	}
}

// New is a session that is not open yet.
func New(d Deps, o Options) *Session {
	masker := event.NewMasker()
	return &Session{deps: d, options: o, Masker: masker, log: newLog(d, o.Debug, masker), Profile: newProfile(d, o.Profile)}
}

func (s *Session) open(ctx context.Context, why Need) error {
	if err := s.resolve(why); err != nil {
		return err
	}
	s.findPlugins()
	s.log.Debug("environment", "provider", s.Provider.Name, "stack", s.Settings.Stack.Text, "root", s.Settings.Root, "folder", s.Folder, "plugins", s.plugins)
	if s.options.Refusal != nil {
		return s.options.Refusal
	}
	s.Profile.lap("configuration")
	if why == ToOperate {
		if err := s.lockEnvironment(ctx, string(s.options.Operation)); err != nil {
			return err
		}
	}
	if why != ToLook {
		if err := s.checkNoChange(); err != nil {
			return err
		}
	}
	s.Profile.lap("lock")
	checked := func() error { return nil }
	if why == ToOperate {
		checked = s.startChecks(ctx)
	}
	engine, err := s.startEngine(ctx)
	if err != nil {
		return err
	}
	keeps := s.options.Interactive || s.options.Secrets.Generate || len(s.options.Secrets.Given) > 0
	if keeps && s.options.Operation.RunsPrograms() { // nothing is asked or kept for what cannot go well
		if err := checked(); err != nil {
			return err
		}
	}
	if err := s.provideSecrets(ctx, why); err != nil {
		return err
	}
	copies, err := s.prepareFiles(ctx, engine, why)
	if err != nil {
		return err
	}
	s.Profile.lap("passphrase key")
	if why == ToOperate && s.options.Simulation.On {
		if err := s.startClouds(ctx); err != nil {
			return err
		}
	}
	s.Profile.lap("clouds")
	if err := s.openStacks(ctx, engine, copies, why); err != nil {
		return err
	}
	if why == ToOperate {
		s.guardStates()
	}
	err = checked()
	s.Profile.lap("checks")
	return err
}

// openStacks asks the backend which of the environment's stacks exist.
func (s *Session) openStacks(ctx context.Context, engine engine, copies encryption.Copies, why Need) error {
	work, err := s.workFolder(why)
	if err != nil {
		return err
	}
	organization, err := s.organization(ctx, engine, work)
	if err != nil {
		return err
	}
	err = s.listStacks(ctx, stacks.Options{
		Command:      engine,
		Stack:        s.Settings.Stack.Text,
		Organization: organization,
		WorkDir:      work,
		StackFile:    copies.Stack,
		SecretsFile:  copies.Secrets,
		Env:          s.Env,
		Programs:     s.Profile.measure(rooted(s.deps.Programs, s.Settings.Root)),
		Plugins:      s.plugins,
		Masker:       s.Masker,
		Empty:        !s.HasState(),
	}, why)
	s.Profile.lap("list of stacks")
	return err
}

// listStacks asks the backend which stacks exist. States that cannot be read are
// told, or restored if the command is there to do so. A sidecar is no reason to
// stop an operation.
func (s *Session) listStacks(ctx context.Context, options stacks.Options, why Need) (err error) {
	s.Stacks, err = stacks.Open(ctx, options)
	if err == nil || ctx.Err() != nil {
		return err
	}
	broken := s.brokenStates()
	if len(broken) == 0 {
		return err
	}
	harmless := onlySidecars(broken)
	if !s.options.Restore && (!harmless || why != ToOperate) {
		return &BrokenStatesError{broken: broken, repair: s.CommandLine("repair")}
	}
	if err := s.restoreStates(s.deps.Stderr, broken); err != nil {
		return err
	}
	s.Restored = !harmless
	s.Stacks, err = stacks.Open(ctx, options)
	return err
}

// startClouds serves the simulated clouds.
func (s *Session) startClouds(ctx context.Context) error {
	options := simulate.Options{Speed: s.options.Simulation.Speed, Dir: s.Folder.Clouds(s.Settings.Stack.Text), Log: s.log}
	for _, text := range s.options.Simulation.Fail {
		fault, err := simulate.ParseFault(text)
		if err != nil {
			return failure.Usagef("", "--simulate-fail: %v", err)
		}
		options.Fail = append(options.Fail, fault)
	}
	for _, text := range s.options.Simulation.Slow {
		delay, err := simulate.ParseDelay(text)
		if err != nil {
			return failure.Usagef("", "--simulate-slow: %v", err)
		}
		options.Slow = append(options.Slow, delay)
	}
	// The clouds outlive ctx: an operation that is being cancelled still talks to them.
	clouds, err := simulate.Start(context.WithoutCancel(ctx), s.deps.Clouds(), options)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, clouds.Close)
	maps.Copy(s.Env, clouds.Env())
	return nil
}

// organization is the first part of the names of stacks: fixed on self-managed
// backends, the user's choice on Pulumi Cloud.
func (s *Session) organization(ctx context.Context, engine engine, dir string) (string, error) {
	if !s.managed() {
		return "organization", nil
	}
	return stacks.Organization(ctx, engine, dir, s.Env)
}

// Close ends what the session has started, gives its lock back and removes its
// working copies.
func (s *Session) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}
