package cli

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"mara/config"
	"mara/projects"
	"mara/providers"
	"mara/runner/internal/encryption"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/lock"
	"mara/runner/internal/plan"
	"mara/runner/internal/simulate"
	"mara/runner/internal/stacks"
)

// session is an environment that is open for work: its settings, its plan, the
// engine, and the clouds if they are simulated.
type session struct {
	settings config.Settings
	provider providers.Provider
	plan     plan.Plan
	stacks   *stacks.Environment
	masker   *event.Masker
	madeUp   []string // configuration a simulation made up
	run      string   // id of the run that holds the environment's lock
	owner    lock.Owner
	warnings []string // to begin the run with

	engine    engine                                          // nil until it is started
	plugins   map[string]string                               // resource providers beside the runner, with their folders
	ask       func(ctx context.Context, address string) error // whether an application answers; nil for the network
	takenOver bool                                            // the lock, from a run that did not end properly
	restored  bool                                            // states, that were broken
	profile   *profile
	env       map[string]string
	folder    string // .runner or .runner/simulated
	closers   []func() error
}

// need is what a session is opened for.
type need int

const (
	toLook    need = iota // at what is known without a key
	toReveal              // outputs, which may be encrypted
	toOperate             // on stacks, with clouds
)

// openSession opens the environment that the options choose. Every problem that
// can be found before anything changes is found here, and for an operation all
// of them are told at once.
func openSession(ctx context.Context, d Deps, o sessionOptions, why need) (*session, error) {
	s := &session{masker: event.NewMasker(), profile: newProfile(d, o.Profile)}
	err := s.open(ctx, d, o, why)
	if err == nil {
		return s, nil
	}
	err = errors.Join(err, s.close())
	if why == toOperate {
		err = allProblems(ctx, d, o, err)
	}
	return nil, err
}

func (s *session) open(ctx context.Context, d Deps, o sessionOptions, why need) error {
	if err := s.resolve(o, why); err != nil {
		return err
	}
	s.findPlugins(d, o.Simulation.On)
	if o.refusal != nil {
		return o.refusal
	}
	s.profile.lap("configuration")
	if why == toOperate {
		if err := s.lockEnvironment(ctx, d, o.Lock); err != nil {
			return err
		}
	}
	if why != toLook {
		if err := s.checkNoChange(); err != nil {
			return err
		}
	}
	s.profile.lap("lock")
	checked := func() error { return nil }
	if why == toOperate {
		checked = s.startChecks(ctx, d, o)
	}
	engine, err := s.startEngine(ctx, d, o)
	if err != nil {
		return err
	}
	if o.Interactive || o.Secrets.Generate || len(o.Secrets.Given) > 0 { // nothing is asked or kept for what cannot go well
		if err := checked(); err != nil {
			return err
		}
	}
	if err := s.provideSecrets(ctx, d, o, why); err != nil {
		return err
	}
	copies, err := s.prepareFiles(ctx, o, engine, why)
	if err != nil {
		return err
	}
	s.profile.lap("passphrase key")
	if why == toOperate && o.Simulation.On {
		if err := s.startClouds(ctx, d, o); err != nil {
			return err
		}
	}
	s.profile.lap("clouds")
	if err := s.openStacks(ctx, d, o, engine, copies, why); err != nil {
		return err
	}
	err = checked()
	s.profile.lap("checks")
	return err
}

// openStacks asks the backend which of the environment's stacks exist.
func (s *session) openStacks(ctx context.Context, d Deps, o sessionOptions, engine engine, copies encryption.Copies, why need) error {
	work, err := s.workFolder(why)
	if err != nil {
		return err
	}
	organization, err := s.organization(ctx, engine, work)
	if err != nil {
		return err
	}
	err = s.listStacks(ctx, d, o, stacks.Options{
		Command:      engine,
		Stack:        s.settings.Stack.Text,
		Organization: organization,
		WorkDir:      work,
		StackFile:    copies.Stack,
		SecretsFile:  copies.Secrets,
		Env:          s.env,
		Programs:     s.profile.measure(rooted(d.Programs, s.settings.Root)),
		Plugins:      s.plugins,
		Masker:       s.masker,
		Empty:        !s.hasState(),
	})
	s.profile.lap("list of stacks")
	return err
}

// listStacks asks the backend which stacks exist. States that cannot be read are
// told, or restored if the command is there to do so.
func (s *session) listStacks(ctx context.Context, d Deps, o sessionOptions, options stacks.Options) (err error) {
	s.stacks, err = stacks.Open(ctx, options)
	if err == nil || ctx.Err() != nil {
		return err
	}
	broken := s.brokenStates()
	if len(broken) == 0 {
		return err
	}
	if !o.Restore {
		return &brokenStatesError{broken: broken, repair: s.commandLine("repair", o.Simulation.On)}
	}
	if err := s.restoreStates(d.Stderr, broken); err != nil {
		return err
	}
	s.restored = true
	s.stacks, err = stacks.Open(ctx, options)
	return err
}

// resolve makes settings and plan, and checks the configuration. It goes on
// after a problem as far as that makes sense, so that all are told at once.
func (s *session) resolve(o sessionOptions, why need) error {
	if err := s.configure(o); err != nil {
		return s.unresolved(o, err, why)
	}
	named, err := s.rememberedProvider(s.settings.Provider)
	if err != nil {
		return err
	}
	if s.provider, err = providerOf(named); err != nil && why == toOperate {
		err = config.Join(err, s.settings.Config.Validate(declaredKeys(), nil))
	}
	if err != nil {
		return err
	}
	if s.plan, err = plan.New(s.provider); err != nil {
		return err
	}
	if why != toOperate {
		return nil
	}
	return s.validate(o)
}

// configure makes the settings, and what follows from them alone.
func (s *session) configure(o sessionOptions) error {
	if o.Root == "" {
		return o.needRoot()
	}
	settings, err := config.Resolve(config.Request{
		Root: o.Root, Stack: o.Stack, Provider: o.Provider, Sources: o.Sources, Simulate: o.Simulation.On,
	})
	if err != nil {
		return err
	}
	if settings.Config, err = settings.Config.Override(o.Overrides...); err != nil {
		return err
	}
	s.settings, s.env = settings, settings.Environ()
	s.masker.Add(secretsOf(s.env)...)
	s.folder = filepath.Join(o.Root, ".runner")
	if o.Simulation.On {
		s.folder = filepath.Join(s.folder, "simulated")
		s.env["PULUMI_HOME"] = filepath.Join(s.folder, "pulumi")
	}
	if settings.Provider.IsSet() {
		if _, err := providerOf(settings.Provider); err != nil {
			return err
		}
	}
	return nil
}

// unresolved adds to an error without which there are no settings what is
// certain nevertheless, before an operation: a stack and a provider that nobody
// has named, and in a folder without configuration all that it needs.
func (s *session) unresolved(o sessionOptions, first error, why need) error {
	if why != toOperate {
		return first
	}
	errs := []error{first}
	stack, err := config.ResolveStack(o.Stack, o.Sources)
	if o.Root == "" && err != nil {
		errs = append(errs, err)
	}
	named, nameErr := config.ResolveProvider(o.Provider, o.Sources, config.StackFile{})
	noFile := err != nil || o.Root == ""
	provider, providerErr := providerOf(named)
	switch {
	case nameErr != nil || !noFile: // the stack file, which cannot be read, may name it
	case providerErr != nil:
		errs = append(errs, providerErr)
	case o.Root == "" && err == nil && !o.Simulation.On:
		file := config.StackFile{File: config.StackPath(stack.Text)}
		errs = append(errs, file.Validate(nil, provider.Missing(file, o.Sources)))
	}
	return config.Join(errs...)
}

// validate holds the configuration against what the projects declare. A
// simulation makes up what is missing; the provider is known by now, wherever
// it came from.
func (s *session) validate(o sessionOptions) error {
	file := s.settings.Config
	if _, ok := file.Lookup(projects.SimulatedKey); ok {
		return &config.Error{Problems: []config.Problem{
			file.Problem(projects.SimulatedKey, "is the runner's own: it tells programs that they are simulated; use --simulate"),
		}}
	}
	var missing []config.Key
	if !o.Simulation.On {
		missing = s.provider.Missing(file, o.Sources)
	}
	more := append(s.provider.Check(file), s.missingSecrets(o)...)
	return withProblems(file.Validate(declaredKeys(), missing), more)
}

func (s *session) planKeys() []config.Key {
	var keys []config.Key
	for _, step := range s.plan.Steps {
		keys = append(keys, step.Project.Keys...)
	}
	return keys
}

func (s *session) planSecrets() []projects.Secret {
	var secrets []projects.Secret
	for _, step := range s.plan.Steps {
		secrets = append(secrets, step.Project.Secrets...)
	}
	return secrets
}

// prepareFiles makes the working copies of the stack files.
func (s *session) prepareFiles(ctx context.Context, o sessionOptions, engine engine, why need) (encryption.Copies, error) {
	if why == toLook {
		return encryption.Copies{}, nil
	}
	options := s.encryptionOptions(o)
	options.Open = s.opener(ctx, engine)
	copies, err := encryption.Prepare(options)
	if err != nil {
		return encryption.Copies{}, s.encryptionError(err)
	}
	s.masker.Add(copies.Known...)
	s.madeUp = copies.MadeUp
	maps.Copy(s.env, copies.Env)
	return copies, nil
}

// encryptionOptions are what decides how the environment is encrypted.
func (s *session) encryptionOptions(o sessionOptions) encryption.Options {
	options := encryption.Options{
		Stack:    encryption.File{Path: s.settings.Config.File, Content: s.settings.Config.Content},
		Secrets:  encryption.File{Path: s.settings.Secrets.File, Content: s.settings.Secrets.Content},
		SaltFile: s.recordFile(),
		Provider: s.provider.Name,
		Env:      s.env,
		Managed:  s.managed(),
	}
	if o.Simulation.On {
		options.Simulate = &encryption.ThrowAway{
			Keys:    s.planKeys(),
			Secrets: s.planSecrets(),
			File:    filepath.Join(s.folder, "secrets", "Pulumi."+s.settings.Stack.Text+".yaml"),
		}
	}
	return options
}

// encryptionError marks what is wrong with the passphrase or the files it
// opens as a matter of the environment.
func (s *session) encryptionError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && strings.HasPrefix(path.Path, s.folder) {
		return s.folderError(err)
	}
	return &failure.Environment{Text: err.Error()}
}

// startClouds serves the simulated clouds.
func (s *session) startClouds(ctx context.Context, d Deps, o sessionOptions) error {
	options := simulate.Options{Speed: o.Simulation.Speed, Dir: filepath.Join(s.folder, "clouds", s.settings.Stack.Text)}
	for _, text := range o.Simulation.Fail {
		fault, err := simulate.ParseFault(text)
		if err != nil {
			return failure.Usagef("", "--simulate-fail: %v", err)
		}
		options.Fail = append(options.Fail, fault)
	}
	for _, text := range o.Simulation.Slow {
		delay, err := simulate.ParseDelay(text)
		if err != nil {
			return failure.Usagef("", "--simulate-slow: %v", err)
		}
		options.Slow = append(options.Slow, delay)
	}
	if o.Debug {
		options.Log = slog.New(slog.NewTextHandler(d.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	// The clouds outlive ctx: an operation that is being cancelled still talks to them.
	clouds, err := simulate.Start(context.WithoutCancel(ctx), d.Clouds(), options)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, clouds.Close)
	maps.Copy(s.env, clouds.Env())
	return nil
}

// workFolder is a folder of this session's own for working copies. Only those
// that change something keep it below the root, which others may not write to.
func (s *session) workFolder(why need) (string, error) {
	parent := os.TempDir()
	if why == toOperate {
		parent = filepath.Join(s.folder, "work")
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return "", s.folderError(err)
		}
	}
	if why == toOperate {
		s.ignoreInGit()
	}
	own := "@" + s.provider.Name + "-" + s.settings.Stack.Text
	if why == toOperate {
		if err := removeStale(parent, own); err != nil {
			return "", s.folderError(err)
		}
	}
	work, err := os.MkdirTemp(parent, workPrefix+"*"+own)
	if err != nil {
		return "", s.folderError(err)
	}
	s.closers = append(s.closers, func() error { return os.RemoveAll(work) })
	return work, s.makeStateFolder(why)
}

// workPrefix begins the names of folders for working copies; they end with @
// and the environment.
const workPrefix = "run-"

// removeStale removes what runs of this environment have left that were killed.
// Its lock is held, so none of them still works there.
func removeStale(parent, ending string) error {
	entries, err := os.ReadDir(parent)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), workPrefix) && strings.HasSuffix(entry.Name(), ending) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(parent, entry.Name())))
		}
	}
	return err
}

// ignoreInGit keeps .runner out of the user's repository. That it cannot be
// written is no reason to stop.
func (s *session) ignoreInGit() {
	file := filepath.Join(s.settings.Root, ".runner", ".gitignore")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		_ = os.WriteFile(file, []byte("*\n"), 0o644)
	}
}

// makeStateFolder makes the folder of a file backend, which Pulumi demands.
func (s *session) makeStateFolder(why need) error {
	folder, ok := s.stateFolder()
	if !ok || why != toOperate {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return s.folderError(err)
	}
	return nil
}

// stateFolder is the folder of a file backend.
func (s *session) stateFolder() (string, bool) { return s.settings.StateFolder() }

// hasState is false when nothing can have been deployed yet.
func (s *session) hasState() bool {
	folder, ok := s.stateFolder()
	if !ok {
		return true
	}
	_, err := os.Stat(filepath.Join(folder, ".pulumi"))
	return err == nil
}

// managed is true where the backend encrypts secrets by itself.
func (s *session) managed() bool {
	return strings.HasPrefix(s.settings.Backend.Text, "https://") || strings.HasPrefix(s.settings.Backend.Text, "http://")
}

// organization is the first part of the names of stacks: fixed on self-managed
// backends, the user's choice on Pulumi Cloud.
func (s *session) organization(ctx context.Context, engine engine, dir string) (string, error) {
	if !s.managed() {
		return "organization", nil
	}
	return stacks.Organization(ctx, engine, dir, s.env)
}

func (s *session) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}

// secretsOf are the values of variables whose names say that they are secret.
func secretsOf(env map[string]string) []string {
	var secrets []string
	for name, value := range env {
		for _, ending := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "SECRET_ACCESS_KEY", "API_KEY", "PRIVATE_KEY"} {
			if strings.HasSuffix(name, ending) {
				secrets = append(secrets, value)
			}
		}
	}
	return secrets
}
