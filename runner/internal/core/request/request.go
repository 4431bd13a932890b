// Package request describes the environment of a command before its settings are resolved.
package request

import (
	"cmp"
	"path/filepath"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/layers"
	"mara/runner/internal/machine/layout"
)

// Request identifies an environment.
type Request struct {
	Root        string       // "" without a root
	NoRoot      error        // why Root is empty
	Stack       config.Value // value of --stack
	Provider    config.Value // value of --provider
	Sources     config.Sources
	BuiltIn     *model.Catalogue     // what comes with the runner; nil for nothing
	Catalogue   *catalogue.Catalogue // with mara.yaml; nil if it is not read: then only BuiltIn is known
	Simulation  Simulation
	Interactive bool // prompts are allowed
	Debug       bool
	// ChangeProvider lets the named provider differ from the provider in the stack file or in
	// the record of the first deployment. The caller checks that nothing is deployed.
	ChangeProvider bool
}

// Known returns the catalogue of projects and providers.
func (r Request) Known() catalogue.Catalogue {
	if r.Catalogue == nil {
		return catalogue.Of(r.BuiltIn)
	}
	return *r.Catalogue
}

// Directory returns the runner's directory for the environment.
func (r Request) Directory() layout.Runner {
	if r.Simulation.Scratch != "" {
		return layout.Runner(r.Simulation.Scratch)
	}
	return layout.Of(r.Root, r.Simulation.On)
}

// ReadStack reads the configuration of a stack: its file and its layers.
func (r Request) ReadStack(stack string) (config.StackFile, config.Description, error) {
	return r.resolving().ReadStack(stack)
}

// Environments lists the environments of the root that files name. With an error about some files, it returns those of
// the others.
func (r Request) Environments() ([]string, error) { return environments.Names(r.Root, r.Known()) }

// SelectedStack returns the environment that Pulumi has selected in the projects of the root, "" if there is none.
func (r Request) SelectedStack() string {
	settings, err := r.RootSettings()
	if err != nil {
		return ""
	}
	env := settings.Environ()
	home := env["PULUMI_HOME"]
	if home == "" && env["HOME"] != "" {
		home = filepath.Join(env["HOME"], ".pulumi")
	}
	return environments.Selected(home, settings.Backend.Text, r.Known())
}

// Settings resolves the settings of the environment.
func (r Request) Settings() (config.Settings, error) {
	if r.Root == "" {
		return config.Settings{}, r.NoRoot
	}
	return config.Resolve(r.resolving())
}

// RootSettings resolves the settings that all environments of the root share.
func (r Request) RootSettings() (config.Settings, error) {
	if r.Root == "" {
		return config.Settings{}, r.NoRoot
	}
	return config.ResolveRoot(r.resolving())
}

// resolving returns the inputs for resolving settings.
func (r Request) resolving() config.Request {
	o := config.Request{Describe: layers.Read, Root: r.Root, Stack: r.Stack, Provider: r.Provider, Sources: r.Sources,
		Simulate: r.Simulation.On, ChangeProvider: r.ChangeProvider,
		Backends: func() (config.Backends, error) { return r.Known().Backends(r.Root) }}
	if r.Simulation.Scratch != "" {
		o.StateDir = string(r.Directory().State())
	}
	return o
}

// Simulation has the values of the simulation flags.
type Simulation struct {
	On    bool
	Speed float64
	Fail  []string // TYPE[=MESSAGE]
	Slow  []string // TYPE=DURATION

	Schemas []string // files with schemas of packages that are not built in
	Unknown bool     // types that no schema has are not judged: their inputs are their outputs

	// Cluster is the kubeconfig of a real cluster that validates all simulated objects in dry
	// runs, or "".
	Cluster string
	// Scratch is the directory of a temporary simulation; "" stores the simulation below the root.
	Scratch string
}

// Flag returns the flag for commands on the same clouds: " --simulate" or "".
func (s Simulation) Flag() string {
	if s.On {
		return " --simulate"
	}
	return ""
}

// StackProblems returns the problems of the stack's files although the environment file is
// broken, if the stack is known.
func (r Request) StackProblems() error {
	stack, err := config.ResolveStack(r.Stack, r.Sources)
	if err != nil {
		return nil // the broken lines may name it
	}
	file, _, fileErr := r.ReadStack(stack.Text)
	if fileErr == nil {
		fileErr = file.Validate(r.DeclaredKeys(), nil)
	}
	_, secretsErr := config.ReadSecrets(r.Root, stack.Text)
	return config.Join(fileErr, secretsErr)
}

// ownKeys returns the keys that the runner itself reads.
func ownKeys() []config.Key {
	return []config.Key{
		{Name: config.ProtectKey, Kind: config.Bool, Default: false, Doc: "destroy this environment, and replace or " +
			"delete what holds data in it, only after its name was typed"},
		{Name: config.TTLKey, Kind: config.String, Form: config.Duration, Example: "8h", Doc: "how long this environment " +
			"is meant to live"},
		config.AcceptDeclaration(),
		{Name: config.UseContextKey, Kind: config.Bool, Default: false, Doc: "make the context of this environment's " +
			"cluster the current one of kubectl; without it that happens only where none is current"},
	}
}

// DeclaredKeys returns the keys that projects or the runner read.
func (r Request) DeclaredKeys() []config.Key {
	known := r.Known()
	keys := append(known.Keys(), ownKeys()...)
	for _, secret := range known.Secrets() {
		if secret.Own { // it may be in the stack file, encrypted
			keys = append(keys, config.Key{Name: secret.Key, Kind: config.String, Doc: secret.Doc})
		}
	}
	return keys
}

// Fleet reads all environments of the root and their waves. Its error lists all problems.
func (r Request) Fleet() ([]fleet.Environment, fleet.Rollout, error) {
	if r.Root == "" {
		return nil, fleet.Rollout{}, r.NoRoot
	}
	v := r.view()
	if len(v.problems) > 0 {
		return nil, fleet.Rollout{}, config.Join(v.problems...)
	}
	return v.all, v.waves, v.wavesErr
}

// View is the readable part of a fleet, some of whose files may be broken.
type View struct {
	Chosen []fleet.Environment
	Waves  fleet.Rollout
	Broken map[string]error // by environment
	Err    error            // all problems, or nil
	Doubts []config.Problem // files that belong to no environment
}

// View chooses environments to show. Unlike Choose, it returns the readable environments if others are
// broken. It also returns broken environments, unless labels choose, which are unknown for them.
func (r Request) View(s fleet.Selection) (View, error) {
	if r.Root == "" {
		return View{}, r.NoRoot
	}
	v := r.view()
	shown := View{Waves: v.waves, Broken: v.broken, Err: config.Join(v.problems...), Doubts: v.doubts}
	if len(v.problems) == 0 { // else waves may miss unreadable labels
		shown.Err = v.wavesErr
	}
	if len(v.all) == 0 {
		return shown, nil
	}
	var err error
	if shown.Chosen, err = fleet.Select(v.all, s); err != nil && shown.Err != nil {
		err = config.Join(shown.Err, err)
	}
	return shown, err
}

// fleetFiles has the contents of the files of all environments of a root.
type fleetFiles struct {
	all      []fleet.Environment
	broken   map[string]error
	problems []error // with the environments
	doubts   []config.Problem
	waves    fleet.Rollout
	wavesErr error
}

func (r Request) view() fleetFiles {
	v := fleetFiles{broken: map[string]error{}}
	found, err := environments.Find(r.Root, r.Known())
	if err != nil {
		v.problems = append(v.problems, err)
	}
	v.doubts = found.Doubts
	for _, name := range found.Names() {
		e, err := r.Environment(name)
		if e.File == "" {
			e.File = found.Evidence(name)[0].File
		}
		if err != nil {
			e.Stack = name
			v.broken[name] = err
			v.problems = append(v.problems, err)
		}
		v.all = append(v.all, e)
	}
	v.waves, v.wavesErr = fleet.ReadRollout(r.Root, v.all)
	return v
}

// Choose reads the fleet and chooses environments. An empty fleet is no error.
func (r Request) Choose(s fleet.Selection) ([]fleet.Environment, fleet.Rollout, error) {
	all, rollout, err := r.Fleet()
	if err != nil || len(all) == 0 {
		return nil, rollout, err
	}
	chosen, err := fleet.Select(all, s)
	return chosen, rollout, err
}

// Environment reads one environment of the fleet.
func (r Request) Environment(stack string) (fleet.Environment, error) {
	file, described, err := r.ReadStack(stack)
	if err != nil {
		return fleet.Environment{}, err
	}
	named := file.Text(config.InfraType)
	remembered, _ := r.RememberedProvider(r.Directory(), stack, named) // "" for one that cannot be read
	return fleet.NewEnvironment(stack, cmp.Or(named.Text, remembered.Text), file, described), nil
}

// Of returns the request for one environment of the fleet.
func (r Request) Of(stack string) Request {
	r.Stack = config.Value{Text: stack, Origin: config.Origin{Source: config.FromFleet}}
	return r
}
