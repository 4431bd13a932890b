// Package request says which environment a command is about, and what is known
// of it before its settings are resolved.
package request

import (
	"mara/config"
	"mara/runner/internal/catalogue"
	"mara/runner/internal/layers"
	"mara/runner/internal/layout"
	"mara/runner/internal/simulate"
)

// Request says which environment is meant.
type Request struct {
	Root        string       // "" when there is none
	NoRoot      error        // why Root is empty
	Stack       config.Value // of the flag
	Provider    config.Value // of the flag
	Sources     config.Sources
	Catalogue   *catalogue.Catalogue // nil for the built-in one
	Simulation  Simulation
	Interactive bool // questions may be asked
	Debug       bool
	// ChangeProvider lets a provider that is named differ from the one that the stack
	// file or the record of the first deployment names. Whoever sets it checks that
	// nothing is deployed.
	ChangeProvider bool
}

// Known returns what is known of projects and providers.
func (r Request) Known() catalogue.Catalogue {
	if r.Catalogue == nil {
		return catalogue.BuiltIn()
	}
	return *r.Catalogue
}

// Folder returns where the runner keeps what it knows of the environment.
func (r Request) Folder() layout.Runner {
	if r.Simulation.Scratch != "" {
		return layout.Runner(r.Simulation.Scratch)
	}
	return layout.Of(r.Root, r.Simulation.On)
}

// ReadStack reads the configuration of a stack: its file, and what layers say.
func (r Request) ReadStack(stack string) (config.StackFile, config.Description, error) {
	return r.resolving().ReadStack(stack)
}

// Settings makes the settings of the environment.
func (r Request) Settings() (config.Settings, error) {
	if r.Root == "" {
		return config.Settings{}, r.NoRoot
	}
	return config.Resolve(r.resolving())
}

// RootSettings makes what all environments of the root have in common.
func (r Request) RootSettings() (config.Settings, error) {
	if r.Root == "" {
		return config.Settings{}, r.NoRoot
	}
	return config.ResolveRoot(r.resolving())
}

// resolving returns the request's facts that settings are made from.
func (r Request) resolving() config.Request {
	o := config.Request{Describe: layers.Read, Root: r.Root, Stack: r.Stack, Provider: r.Provider, Sources: r.Sources, Simulate: r.Simulation.On, ChangeProvider: r.ChangeProvider}
	if r.Simulation.Scratch != "" {
		o.StateFolder = string(r.Folder().State())
	}
	return o
}

// Simulation is what the simulation flags say.
type Simulation struct {
	On    bool
	Speed float64
	Fail  []string // TYPE[=MESSAGE]
	Slow  []string // TYPE=DURATION

	Schemas []string // files with schemas of packages that are not built in

	// Cluster is the kubeconfig of a real cluster that is asked, as a dry run, about
	// everything that the simulated one would make; "" asks none.
	Cluster string
	// Scratch is a folder for a simulation that nobody will go on with; "" keeps
	// it below the root.
	Scratch string
	Admit   simulate.Admission // has a say in every resource; nil admits all
}

// Flag returns what a command on the same clouds has behind its name.
func (s Simulation) Flag() string {
	if s.On {
		return " --simulate"
	}
	return ""
}

// StackProblems returns what is wrong with the files of the stack, as far as it is
// known which one is meant, where the environment file is broken.
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
		{Name: config.ProtectKey, Kind: config.Bool, Default: false, Doc: "destroy this environment, and replace or delete what holds data in it, only if somebody says its name"},
		{Name: config.TTLKey, Kind: config.String, Form: config.Duration, Example: "8h", Doc: "how long this environment is meant to live"},
	}
}

// DeclaredKeys returns the keys that somebody reads: projects, or the runner.
func (r Request) DeclaredKeys() []config.Key {
	known := r.Known()
	keys := append(known.Keys(), ownKeys()...)
	for _, secret := range known.Secrets() {
		if secret.Own { // it may stand in the stack file, encrypted
			keys = append(keys, config.Key{Name: secret.Key, Kind: config.String, Doc: secret.Doc})
		}
	}
	return keys
}
