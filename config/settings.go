// Package config reads and validates the configuration of an environment: the environment
// file, the stack file that all projects share, and the settings that follow from them,
// from flags and from the process environment. Every value knows its origin, and all
// problems are reported at once, with file and line.
//
// Precedence, highest first: flag, environment file, process environment, stack
// configuration, default. Nothing here changes the environment of the process.
package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// The names of settings in the environment and in the stack file.
const (
	StackVariable       = "PULUMI_STACK"
	RunnerStackVariable = "RUNNER_STACK"
	ProviderVariable    = "RUNNER_PROVIDER"
	BackendVariable     = "PULUMI_BACKEND_URL"
	InfraType           = "kubernetes:infra_type"
)

// Locations of the state below the root.
const (
	stateDir          = ".runner/state"
	simulatedStateDir = ".runner/simulated/state"
)

// DefaultBackend is the default location of the state, relative to the root.
const DefaultBackend = filePrefix + stateDir

// Request is the input of Resolve.
type Request struct {
	Root     string
	Stack    Value // of the flag; may not be set
	Provider Value // of the flag
	Sources  Sources
	Simulate bool // store state below .runner/simulated and ignore other backends
	// Describe reads the description of a stack in config/environments; nil skips it.
	Describe func(root, stack string) (Description, error)
	// ChangeProvider lets the flag override the provider in the stack file. The caller
	// checks that nothing is deployed.
	ChangeProvider bool
	// StateDir overrides the directory of a simulation's state; "" for the default.
	StateDir string
	// Backends returns the locations of the states that mara.yaml and the projects name; nil if they name none. It is asked
	// only if neither a variable nor the description of the environment names one.
	Backends func() (Backends, error)
	backend  Value // from the description
}

// Backends are the locations of states that files of a root name.
type Backends struct {
	Value               // of all projects but those elsewhere; not set for none
	Elsewhere Elsewhere // never where Value is not set
}

// Elsewhere are the backends of the projects whose states are in another one than those of the others, by project.
type Elsewhere map[string]Value

// ReadStack reads the configuration of a stack: its file merged over its description.
func (r Request) ReadStack(stack string) (StackFile, Description, error) {
	file, err := ReadStack(r.Root, stack)
	if r.Describe == nil {
		return file, Description{}, err
	}
	described, describedErr := r.Describe(r.Root, stack)
	if err := Join(describedErr, err); err != nil {
		return file, described, err
	}
	file, err = file.Over(described)
	return file, described, err
}

// Settings is the resolved configuration of an environment. It is an immutable value.
type Settings struct {
	Root      string
	Stack     Value
	Provider  Value       // may not be set
	Replaced  Value       // configured provider that the flag overrides; see Request.ChangeProvider
	Described Description // config/environments/<stack>.yaml
	Backend   Value       // URL
	Elsewhere Elsewhere   // backends of projects of their own
	Named     Value       // the URL that files of the root name, if a variable names another one; else not set
	Config    StackFile   // shared by all projects but secrets
	Secrets   StackFile   // of the secrets project: ciphertext
	environ   map[string]string
	looking   map[string]string // without what the environment file may choose for programs of operations alone
}

// Resolve resolves the settings. It does not check that the provider exists: config does not
// know the catalogue.
func Resolve(r Request) (Settings, error) {
	stack, err := ResolveStack(r.Stack, r.Sources)
	if err != nil {
		return Settings{}, err
	}
	file, described, fileErr := r.ReadStack(stack.Text)
	secrets, secretsErr := ReadSecrets(r.Root, stack.Text)
	if err := Join(fileErr, secretsErr); err != nil {
		return Settings{}, err
	}
	provider, replaced, err := r.provider(file)
	if err != nil {
		return Settings{}, err
	}
	r.backend = described.Backend
	settings, err := ResolveRoot(r)
	if err != nil {
		return Settings{}, err
	}
	settings.Described = described
	settings.Stack, settings.Provider, settings.Config, settings.Secrets = stack, provider, file, secrets
	settings.Replaced = replaced
	settings.environ[StackVariable] = stack.Text
	return settings, settings.takeOrganization(r)
}

// organizationVariable names Pulumi's variable for the organization of stacks whose names have none.
const organizationVariable = "PULUMI_DEFAULT_ORGANIZATION"

// takeOrganization has Pulumi use the organization that the name of the stack has: ORGANIZATION/NAME.
func (s *Settings) takeOrganization(r Request) error {
	named, err := r.Sources.agreed(r.Stack, RunnerStackVariable, StackVariable)
	organization, _, ok := strings.Cut(named.Text, "/")
	if err != nil || !ok || r.Simulate {
		return err
	}
	if !s.Managed() {
		return named.Wrong(fmt.Sprintf("names the organization %s, but only Pulumi Cloud has organizations, and the states "+
			"are in %s", organization, s.BackendPlace()), "name the stack alone, or log in with `pulumi login`")
	}
	s.environ[organizationVariable] = organization
	return nil
}

// ResolveRoot resolves the settings that all environments of a root share: the backend, and
// the environment for Pulumi. They have no stack.
func ResolveRoot(r Request) (Settings, error) {
	environ := r.Sources.File.Merge(r.Sources.Process)
	backend, err := resolveBackend(r, environ)
	if err != nil {
		return Settings{}, err
	}
	environ[BackendVariable] = backend.Text
	settings := Settings{Root: r.Root, Backend: backend.Value, Elsewhere: backend.Elsewhere, environ: environ,
		looking: r.Sources.Looking()}
	if source := backend.Origin.Source; source == FromProcess || source == FromFile {
		// What the variable overrides: an invalid one does not matter then.
		if named, err := r.namedBackends(); err == nil {
			settings.Named = named.otherThan(backend.Text)
		}
	}
	return settings, nil
}

// Environ returns a copy of the environment for Pulumi: the process environment overridden by
// the environment file, with the stack and the backend.
func (s Settings) Environ() map[string]string { return maps.Clone(s.environ) }

// ResolveStack returns the name of the stack: that of the flag, of RUNNER_STACK or
// PULUMI_STACK, else the only configured stack. A flag overrides the variables. If variables
// name two stacks it returns an error: one of them is a mistake, and the wrong environment
// would change. The organization of a name such as acme/dev is not a part of the stack's name.
func ResolveStack(flag Value, sources Sources) (Value, error) {
	stack, err := sources.agreed(flag, RunnerStackVariable, StackVariable)
	if err != nil {
		return Value{}, err
	}
	if stack = cmp.Or(stack, sources.OnlyStack); !stack.IsSet() {
		text := "no stack is named"
		if n := len(sources.Known); n > 0 {
			text += "; there are " + strings.Join(sources.Known[:min(n, 8)], ", ")
			if n > 8 {
				text += fmt.Sprintf(" and %d more", n-8)
			}
		}
		if sources.Selected != nil {
			if selected := sources.Selected(); selected != "" {
				text += fmt.Sprintf("; pulumi has %s selected: -s %[1]s", selected)
			}
		}
		next := fmt.Sprintf("name it with -s NAME, or with %s=NAME in %s", StackVariable, EnvironmentFile)
		if len(sources.Known) > 1 {
			next += "; `runner fleet status` shows all of them"
		}
		return Value{}, &FlagError{Flag: "--stack", Text: text, Next: next}
	}
	name := stack
	if organization, text, ok := strings.Cut(stack.Text, "/"); ok && organization != "" {
		if _, stack, whole := strings.Cut(text, "/"); whole { // ORGANIZATION/PROJECT/STACK
			text = stack
		}
		name.Text = text
	}
	if err := CheckStackName(name.Text); err != nil {
		return Value{}, stack.Wrong(err.Error(), "")
	}
	return name, nil
}

// ResolveProvider returns the provider of the flag or RUNNER_PROVIDER, else the one in the
// stack file. It is not set if neither names one. A stack never changes its provider once
// something is deployed; see Request.ChangeProvider.
func ResolveProvider(flag Value, sources Sources, file StackFile) (Value, error) {
	if entry, ok := file.Lookup(InfraType); ok && entry.Value != nil {
		if _, text := entry.Value.(string); !text {
			return Value{}, &Error{Problems: []Problem{file.Problem(InfraType, "must be the name of a provider in plain text")}}
		}
	}
	asked, err := sources.agreed(flag, ProviderVariable)
	if err != nil {
		return Value{}, err
	}
	configured := file.Text(InfraType)
	if asked.IsSet() && configured.IsSet() && asked.Text != configured.Text {
		return Value{}, providerMismatch(asked, configured)
	}
	return cmp.Or(asked, configured), nil
}

// provider resolves the provider like ResolveProvider, but lets a flag override the stack
// file.
func (r Request) provider(file StackFile) (provider, replaced Value, err error) {
	if !r.ChangeProvider || !r.Provider.IsSet() {
		provider, err = ResolveProvider(r.Provider, r.Sources, file)
		return provider, Value{}, err
	}
	if _, err := ResolveProvider(Value{}, Sources{}, file); err != nil {
		return Value{}, Value{}, err
	}
	if configured := file.Text(InfraType); configured.IsSet() && configured.Text != r.Provider.Text {
		replaced = configured
	}
	return r.Provider, replaced, nil
}

func providerMismatch(asked, configured Value) error {
	origin := configured.Origin
	text := fmt.Sprintf("is %q, but %s asks for %q; a stack never changes its provider while something is deployed",
		configured.Text, asked.Origin, asked.Text)
	next := fmt.Sprintf("drop %s to continue with %s, or name another stack for %s with -s NAME",
		asked.Origin.Name, configured.Text, asked.Text)
	return &Error{Problems: []Problem{{File: origin.File, Line: origin.Line, Key: origin.Name, Text: text}}, Next: next}
}

// resolveBackend returns the locations of the state: that of PULUMI_BACKEND_URL, else of the
// description, else of mara.yaml or the projects, else of the user's login, else a directory below the root.
func resolveBackend(r Request, environ map[string]string) (Backends, error) {
	if r.Simulate {
		directory := cmp.Or(r.StateDir, filepath.Join(r.Root, simulatedStateDir))
		return oneBackend(Value{Text: dirAddress(directory) + withoutSidecars, Origin: Origin{Source: FromSimulation}}, nil)
	}
	if backend := r.Sources.Lookup(BackendVariable); backend.IsSet() {
		if err := CheckBackend(backend); err != nil {
			return Backends{}, err
		}
		backend, err := absoluteBackend(backend, r.Root)
		if err != nil {
			return Backends{}, err
		}
		return oneBackend(backend, r.checkOneBackend(backend))
	}
	named, err := r.namedBackends()
	if err != nil || named.IsSet() {
		return named, err
	}
	login, err := currentLogin(environ)
	if err != nil {
		return Backends{}, err
	}
	if login.IsSet() {
		return oneBackend(absoluteBackend(login, r.Root))
	}
	return oneBackend(Value{Text: dirAddress(filepath.Join(r.Root, stateDir)), Origin: Origin{Source: FromDefault}}, nil)
}

func oneBackend(backend Value, err error) (Backends, error) { return Backends{Value: backend}, err }

// namedBackends returns the locations of the state that files of the root name; it is not set if they name none.
func (r Request) namedBackends() (Backends, error) {
	if r.backend.IsSet() {
		return oneBackend(absoluteBackend(r.backend, r.Root))
	}
	if r.Backends == nil {
		return Backends{}, nil
	}
	return r.Backends()
}

// otherThan returns the first location that is another one; it is not set if there is none.
func (b Backends) otherThan(address string) Value {
	if b.IsSet() && !sameBackend(b.Text, address) {
		return b.Value
	}
	for _, project := range slices.Sorted(maps.Keys(b.Elsewhere)) {
		if other := b.Elsewhere[project]; !sameBackend(other.Text, address) {
			return other
		}
	}
	return Value{}
}

// checkOneBackend refuses a backend in the environment file when the process
// environment names another one.
func (r Request) checkOneBackend(backend Value) error {
	other := r.Sources.process(BackendVariable)
	if backend.Origin.Source != FromFile || !other.IsSet() {
		return nil
	}
	absolute, err := absoluteBackend(other, r.Root)
	if err == nil && sameBackend(absolute.Text, backend.Text) {
		return nil
	}
	return disagreement(other, backend, "")
}

// CheckBackend returns an error for a string that is not the address of a backend.
func CheckBackend(backend Value) error {
	if isBackend(backend.Text) {
		return nil
	}
	return backend.Wrong("is not the address of a backend", backendForms)
}

// backendForms says what the address of a backend looks like.
const backendForms = "write one such as file:///directory, s3://bucket, gs://bucket, azblob://container or " +
	"https://api.pulumi.com"

func isBackend(text string) bool {
	scheme, _, found := strings.Cut(text, "://")
	return found && slices.Contains([]string{
		"file", "s3", "gs", "azblob", "mem", "postgres", "postgresql", "http", "https",
	}, scheme)
}
