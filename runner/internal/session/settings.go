package session

import (
	"slices"
	"strings"

	"mara/config"
	"mara/projects"
	"mara/providers"
	"mara/runner/internal/layout"
	"mara/runner/internal/plan"
)

// resolve makes settings and plan, and checks the configuration. It goes on
// after a problem as far as that makes sense, so that all are told at once.
func (s *Session) resolve(why Need) error {
	if err := s.configure(); err != nil {
		return s.unresolved(err, why)
	}
	named, err := s.rememberedProvider(s.Settings.Provider)
	if err != nil {
		return err
	}
	if s.Provider, err = ProviderOf(named); err != nil && why == ToOperate {
		err = config.Join(err, s.Settings.Config.Validate(DeclaredKeys(), nil))
	}
	if err != nil {
		return err
	}
	if s.Plan, err = plan.New(s.Provider); err != nil {
		return err
	}
	if why != ToOperate {
		return nil
	}
	return s.validate()
}

// StackProblems is what is wrong with the files of the stack, as far as it is
// known which one is meant, where the environment file is broken: both are to
// be told at once.
func StackProblems(r Request) error {
	stack, err := config.ResolveStack(r.Stack, r.Sources)
	if err != nil {
		return nil // the broken lines may name it
	}
	file, fileErr := config.ReadStack(r.Root, stack.Text)
	if fileErr == nil {
		fileErr = file.Validate(DeclaredKeys(), nil)
	}
	_, secretsErr := config.ReadSecrets(r.Root, stack.Text)
	return config.Join(fileErr, secretsErr)
}

// configure makes the settings, and what follows from them alone.
func (s *Session) configure() error {
	if s.options.Root == "" {
		return s.options.NeedRoot()
	}
	settings, err := config.Resolve(config.Request{
		Root: s.options.Root, Stack: s.options.Stack, Provider: s.options.Provider, Sources: s.options.Sources, Simulate: s.options.Simulation.On,
	})
	if err != nil {
		return err
	}
	if settings.Config, err = settings.Config.Override(s.options.Overrides...); err != nil {
		return err
	}
	s.Settings, s.Env = settings, settings.Environ()
	s.Masker.Add(secretsOf(s.Env)...)
	s.Folder = layout.Of(s.options.Root, s.options.Simulation.On)
	if s.options.Simulation.On {
		s.Env["PULUMI_HOME"] = s.Folder.PulumiHome()
	}
	if settings.Provider.IsSet() {
		if _, err := ProviderOf(settings.Provider); err != nil {
			return err
		}
	}
	return nil
}

// unresolved adds to an error without which there are no settings what is
// certain nevertheless, before an operation: a stack and a provider that nobody
// has named, and in a folder without configuration all that it needs.
func (s *Session) unresolved(first error, why Need) error {
	if why != ToOperate {
		return first
	}
	errs := []error{first}
	stack, err := config.ResolveStack(s.options.Stack, s.options.Sources)
	if s.options.Root == "" && err != nil {
		errs = append(errs, err)
	}
	named, nameErr := config.ResolveProvider(s.options.Provider, s.options.Sources, config.StackFile{})
	noFile := err != nil || s.options.Root == ""
	provider, providerErr := ProviderOf(named)
	switch {
	case nameErr != nil || !noFile: // the stack file, which cannot be read, may name it
	case providerErr != nil:
		errs = append(errs, providerErr)
	case s.options.Root == "" && !s.options.Simulation.On:
		errs = append(errs, s.lacksAll(stack.Text, provider))
	}
	return config.Join(errs...)
}

// unnamed stands for the name of a stack that nobody has named.
const unnamed = "NAME"

// lacksAll is what an environment of a provider lacks that has no file at all.
func (s *Session) lacksAll(stack string, provider providers.Provider) error {
	all, err := plan.New(provider)
	if err != nil {
		return err
	}
	if stack == "" {
		stack = unnamed
	}
	s.Provider, s.Plan, s.Env = provider, all, s.options.Sources.File.Merge(s.options.Sources.Process)
	s.Folder = layout.Of(s.deps.Dir, false) // where the first run would make it
	s.Settings = config.Settings{
		Root: s.deps.Dir, Stack: config.Value{Text: stack},
		Config: config.StackFile{File: config.StackPath(stack)}, Secrets: config.StackFile{File: config.SecretsPath(stack)},
	}
	missing := provider.Missing(s.Settings.Config, s.options.Sources)
	return withProblems(s.Settings.Config.Validate(nil, missing), s.missingSecrets())
}

// validate holds the configuration against what the projects declare. A
// simulation makes up what is missing; the provider is known by now, wherever
// it came from.
func (s *Session) validate() error {
	file := s.Settings.Config
	if _, ok := file.Lookup(projects.SimulatedKey); ok {
		return &config.Error{Problems: []config.Problem{
			file.Problem(projects.SimulatedKey, "is the runner's own: it tells programs that they are simulated; use --simulate"),
		}}
	}
	var missing []config.Key
	if !s.options.Simulation.On {
		missing = s.Provider.Missing(file, s.options.Sources)
	}
	sealed, unsealed := projects.Unsealed(file)
	more := slices.Concat(unsealed, s.Provider.Check(file), s.missingSecrets())
	return withProblems(sealed.Validate(DeclaredKeys(), missing), more)
}

func (s *Session) planKeys() []config.Key {
	var keys []config.Key
	for _, step := range s.Plan.Steps {
		keys = append(keys, step.Project.Keys...)
	}
	return keys
}

func (s *Session) planSecrets() []projects.Secret {
	var secrets []projects.Secret
	for _, step := range s.Plan.Steps {
		secrets = append(secrets, step.Project.Secrets...)
	}
	return secrets
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
