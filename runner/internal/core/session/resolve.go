package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/checkout"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/machine/layout"
)

// Resolver resolves an environment as far as a command needs it. The environment is returned with an error as well, with
// what is known; close it in each case.
type Resolver func(Deps, Options) (*Resolved, error)

// ResolveRoot makes what all environments of a root have in common.
func ResolveRoot(d Deps, o Options) (*Resolved, error) {
	s := Unresolved(d, o)
	return s, s.resolveRoot()
}

// ResolveStack makes the settings, and the plan if a provider is known.
func ResolveStack(d Deps, o Options) (*Resolved, error) {
	s := Unresolved(d, o)
	return s, s.resolveStack()
}

// Resolve makes settings and plan; a provider has to be named.
func Resolve(d Deps, o Options) (*Resolved, error) {
	s, err := ResolveStack(d, o)
	if err == nil {
		err = s.needProvider()
	}
	return s, err
}

// ResolveToOperate makes settings and plan for an operation, and checks the
// configuration. It tells all problems at once.
func ResolveToOperate(d Deps, o Options) (*Resolved, error) {
	s, err := ResolveStack(d, o)
	if err != nil {
		return s, s.unresolved(err)
	}
	if err := s.needProvider(); err != nil {
		return s, config.Join(err, s.Settings.Config.Validate(s.Options.DeclaredKeys(), nil))
	}
	err = s.Validate()
	for _, doubt := range s.Doubts {
		s.Warnings = append(s.Warnings, doubt.String())
	}
	return s, err
}

func (s *Resolved) resolveRoot() error {
	settings, err := s.Options.RootSettings()
	if err != nil {
		return err
	}
	s.Settings, s.Env, s.Directory = settings, s.environ(settings), s.Options.Directory()
	return layout.CheckLinks(settings.Root)
}

// environ returns the environment of Pulumi and of what else the session starts.
func (s *Resolved) environ(settings config.Settings) map[string]string {
	if s.Options.Operates {
		return settings.Environ()
	}
	return settings.EnvironToLook()
}

func (s *Resolved) resolveStack() error {
	o := s.Options
	settings, err := o.Settings()
	if err != nil {
		return err
	}
	if settings.Replaced.IsSet() { // programs read the provider in the configuration
		o.Overrides = append(slices.Clone(o.Overrides), config.Change{Key: config.InfraType, Value: settings.Provider.Text})
	}
	if settings.Config, err = settings.Config.Override(o.Overrides...); err != nil {
		return err
	}
	s.Settings, s.Env, s.Directory = settings, s.environ(settings), o.Directory()
	if err := layout.CheckLinks(settings.Root); err != nil {
		return err
	}
	s.Masker.Add(event.SecretsOf(s.Env)...)
	s.Masker.AddURLs(slices.Collect(maps.Values(s.Env))...)
	for _, entry := range settings.Config.Entries {
		s.Masker.AddURLs(config.Show(entry.Value))
	}
	if o.NoJournal {
		s.Env[wire.NoJournalVariable] = "true"
	}
	if o.Simulation.On {
		s.Env["PULUMI_HOME"] = s.Directory.PulumiHome()
	}
	if settings.Provider.IsSet() { // a wrong name is reported before anything else
		if _, err := o.ProviderOf(settings.Provider); err != nil {
			return err
		}
	}
	remembered := o.RememberedProvider
	if !o.Operates {
		remembered = o.ProviderToLook
	}
	named, err := remembered(s.Directory, settings.Stack.Text, settings.Provider)
	if err != nil {
		return err
	}
	if named.IsSet() {
		if err := s.usePlanOf(named); err != nil {
			return err
		}
	}
	if settings.Config, err = answered(s); err != nil {
		return err
	}
	s.Settings = settings
	if o.Narrow != nil && named.IsSet() {
		s.Options.Selection = o.Narrow(s)
	}
	s.openVault()
	if !o.Simulation.On {
		s.pulumi.plugins = findPlugins(s.Provider, s.Deps.PluginDirs)
	}
	s.Log.Debug("environment", "provider", s.Provider.Name, "stack", settings.Stack.Text, "root", o.Root, "directory",
		s.Directory, "plugins", s.pulumi.plugins)
	s.Profile.Lap("configuration")
	return nil
}

// usePlanOf makes the plan. Projects whose own condition excludes them are known
// only to operations that work on what is deployed.
func (s *Resolved) usePlanOf(named config.Value) (err error) {
	if s.Provider, err = s.Options.ProviderOf(named); err != nil {
		return err
	}
	if s.Plan, err = plan.New(s.Provider); err != nil || !s.Options.Operation.RunsPrograms() {
		return err
	}
	s.Plan, err = WithoutUnwanted(s.Plan, s.Provider, s.Settings)
	return err
}

// WithoutUnwanted removes from a plan the projects whose own condition does not
// hold, and the projects that the environment's description skips.
func WithoutUnwanted(p plan.Plan, provider model.Provider, settings config.Settings) (plan.Plan, error) {
	unwanted, err := catalogue.LeftOut(provider, settings.Stack.Text, settings.Config)
	if err == nil {
		err = addSkipped(unwanted, p, settings.Described.Skip)
	}
	return p.WithoutUnwanted(unwanted), err
}

func addSkipped(unwanted map[string]string, p plan.Plan, skip []config.Value) error {
	var problems []config.Problem
	for _, name := range skip {
		at := name.Origin
		project, err := p.Project(name.Text)
		if err != nil {
			near := config.DidYouMean(name.Text, p.Names())
			text := fmt.Sprintf("names %q, which is no project of %s%s", name.Text, p.Provider, near)
			problems = append(problems, config.Problem{File: at.File, Line: at.Line, Key: at.Name, Text: text})
		}
		unwanted[project.Name] = fmt.Sprintf("skipped in %s:%d", at.File, at.Line)
	}
	return config.WithProblems(nil, problems)
}

// answered returns the configuration with what a cluster that is there already answers. That it does not answer is the
// checks' to report.
func answered(s *Resolved) (config.StackFile, error) {
	file := s.Settings.Config
	if s.Deps.Answers == nil {
		return file, nil
	}
	found, err := s.Deps.Answers(context.Background(), s, file)
	if err != nil {
		s.Log.Debug("the cluster was not asked", "error", err)
	}
	return file.Answered(found)
}

// openVault makes the vault; nothing is read or asked yet.
func (s *Resolved) openVault() {
	o := s.Options
	var keys []config.Key
	var secrets []model.Secret
	for _, step := range s.Plan.Steps {
		keys = append(keys, step.Project.Keys...)
		secrets = append(secrets, step.Project.Secrets...)
	}
	if s.Provider.Name == "" {
		secrets = o.Known().Secrets()
	}
	skipped := slices.DeleteFunc(s.Provider.Projects(), func(project model.Project) bool { // built-in, and not in the plan
		return project.Own != nil || slices.Contains(s.Plan.Names(), project.Name)
	})
	s.Vault = vault.New(vault.Options{
		Console: s.Deps.Console, Settings: &s.Settings, Sources: o.Sources, Env: s.Env, Masker: s.Masker,
		Provider: s.Provider.InfraType(), Directory: s.Directory, Keys: keys, Secrets: secrets, Known: o.Known().Secrets(),
		Without: s.Provider.Without(), Skipped: skipped, OwnFiles: s.ownFiles(),
		Interactive: o.Interactive, Simulated: o.Simulation.On, Given: o.Secrets,
		Backend: vault.Backend{
			Engine: s.Engine, Organization: s.Organization, DeployedSalt: s.deployedSalt, Service: keyService(s),
			StackOf: func(project string) string { return o.Known().StackNames().Of(project, s.Settings.Stack.Text) },
			Shared:  func(ctx context.Context) (lock.Store, error) { return s.RunLock().KeyChange(ctx) },
		},
	})
	selected, err := plan.Select(s.Plan, o.Selection) // a wrong selection is refused elsewhere
	s.Vault.Needed = o.NeedSecrets && err == nil && selected.ReadsSecrets(s.Vault.IsSet)
	s.OnClose(s.Vault.Close)
}

// ownFiles finds the stack files next to the projects of the plan, and the secrets that belong there: those that a file has,
// and all that the runner does not keep in the secrets file already.
func (s *Resolved) ownFiles() vault.OwnFiles {
	files, selected := s.Checkouts().Files, s.selected()
	own := vault.OwnFiles{Elsewhere: map[string]vault.Elsewhere{}, OwnPaths: map[string]string{}, OwnStackFiles: len(s.Plan.Steps) > 0}
	own.ProjectStackFiles, own.ProjectsEncrypt = files.InPlan(s.Plan)
	maps.DeleteFunc(own.ProjectStackFiles, func(project string, _ config.StackFile) bool { // its passphrase may not be known
		return !slices.Contains(selected, project) && !encryption.HasPassphrase(s.Env, project)
	})
	for _, step := range s.Plan.Steps {
		project := step.Project
		file, err := files.Of(project) // Validate reports the error
		if err == nil && file.File != "" {
			own.OwnPaths[project.Name] = file.File
		}
		hasFiles := project.Own != nil && project.Own.StackFiles != ""
		own.OwnStackFiles = own.OwnStackFiles && hasFiles
		if !hasFiles || err != nil {
			continue
		}
		for _, secret := range project.Secrets {
			_, there := file.Lookup(secret.Key)
			if _, kept := s.Settings.Secrets.Lookup(secret.Key); there || !kept {
				own.Elsewhere[secret.Key] = vault.Elsewhere{Project: project.Name, File: file}
			}
		}
	}
	return own
}

func (s *Resolved) needProvider() (err error) {
	if s.Provider.Name == "" {
		_, err = s.Options.ProviderOf(config.Value{})
	}
	return err
}

// Validate holds the configuration against what the projects declare. A simulation makes up what is missing.
func (s *Resolved) Validate() error {
	file := s.Settings.Config
	if _, ok := file.Lookup(model.SimulatedKey); ok {
		const text = "is the runner's own: it tells programs that they are simulated; use --simulate"
		return &config.Error{Problems: []config.Problem{file.Problem(model.SimulatedKey, text)}}
	}
	var broken []config.Problem
	for _, project := range plan.Narrow(s.Provider, s.Options.Selection).Own() {
		broken = append(broken, project.Own.Broken...)
	}
	if len(broken) > 0 {
		return &config.Error{Problems: broken, Next: "--only or --skip runs the other projects"}
	}
	declared := s.Options.DeclaredKeys()
	var missing []config.Key
	if !s.Options.Simulation.On {
		missing = plan.Narrow(s.Provider, s.Options.Selection).Missing(file, s.Options.Sources)
	}
	files := s.Checkouts().Files
	missing, ownProblems, err := s.Checkouts().Files.Check(s.Provider.Own(), declared, missing)
	if err != nil {
		return err
	}
	sealed, unsealed := model.Unsealed(file, s.Options.Known().Secrets(), s.Options.BuiltIn.CredentialVariable)
	judged, doubts := s.Provider.Judge(file, filepath.Join(s.Settings.Root, config.Directory))
	misplaced, foreign := s.Options.Misplaced(s.Provider, declared, file)
	invalid := sealed.Validate(declared, missing)
	invalid = files.Placed(invalid, s.Provider.Own(), file.File)
	judged, doubts = config.WithoutInvalid(judged, invalid), config.WithoutInvalid(doubts, invalid)
	s.Doubts = append(foreign, doubts...)
	for _, project := range s.Provider.Own() {
		if own, err := files.Of(project); err == nil {
			s.Doubts = append(s.Doubts, s.Options.MisplacedOwn(s.Provider, project, declared, own)...)
		}
	}
	more := slices.Concat(s.Plan.ReadsAcross(s.Settings), unsealed, ownProblems, misplaced, judged, s.Vault.Problems())
	return config.WithProblems(invalid, more)
}

// unresolved adds to an error without which there are no settings what is certain nevertheless: that the stack and the
// provider are missing, and in a directory without configuration all that the provider needs.
func (s *Resolved) unresolved(first error) error {
	o := s.Options
	errs := []error{first}
	stack, err := config.ResolveStack(o.Stack, o.Sources)
	if o.Root == "" && err != nil {
		errs = append(errs, err)
	}
	named, nameErr := config.ResolveProvider(o.Provider, o.Sources, config.StackFile{})
	noFile := err != nil || o.Root == ""
	provider, providerErr := o.ProviderOf(named)
	switch {
	case nameErr != nil || !noFile: // the stack file, which cannot be read, may name it
	case providerErr != nil:
		errs = append(errs, providerErr)
	case o.Root == "" && !o.Simulation.On:
		errs = append(errs, s.missingAll(stack.Text, provider))
	}
	return config.Join(errs...)
}

// missingAll returns an error that lists all that an environment of a provider needs if it has no file at all.
func (s *Resolved) missingAll(stack string, provider model.Provider) error {
	stack = cmp.Or(stack, "NAME")
	var err error
	if s.Plan, err = plan.New(provider); err != nil {
		return err
	}
	s.Provider, s.Env = provider, s.Options.Sources.Looking()
	s.Directory = layout.Of(s.Deps.Dir, false) // where the first run would make it
	s.Settings = config.Settings{
		Root: s.Deps.Dir, Stack: config.Value{Text: stack},
		Config: config.StackFile{File: config.StackPath(stack)}, Secrets: config.StackFile{File: config.SecretsPath(stack)},
	}
	s.openVault()
	missing := provider.Missing(s.Settings.Config, s.Options.Sources)
	return config.WithProblems(s.Settings.Config.Validate(nil, missing), s.Vault.Problems())
}

// Scope returns the stacks of the environment: those of its provider's projects, including the projects that a
// condition skips here. As long as no provider is known they are those of all projects that the root knows.
func (s *Resolved) Scope() Scope {
	known := s.Options.Known()
	names := s.Provider.Names()
	if s.Provider.Name == "" {
		names = append(names, lists.Map(known.Projects, func(p model.Project) string { return p.Name })...)
	}
	return Scope{
		Environment: s.Settings.Stack.Text, Backend: s.Settings.Backend.Text, Projects: names, Names: known.StackNames(),
	}
}

// sharingKey returns the projects of the environment that share its key. The others
// have stack files of their own that say how they are encrypted.
func sharingKey(s *Resolved) []string {
	beside, _ := s.Checkouts().Files.InPlan(s.Plan)
	return slices.DeleteFunc(slices.Clone(s.Scope().Projects), func(project string) bool {
		file, there := beside[project]
		return there && checkout.SaysHow(file)
	})
}
