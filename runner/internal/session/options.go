package session

import (
	"runtime"
	"time"

	"mara/config"
	"mara/providers/cloud"
	"mara/providers/operation"
	"mara/runner/internal/catalogue"
	"mara/runner/internal/interrupt"
	"mara/runner/internal/layers"
	"mara/runner/internal/layout"
	"mara/runner/internal/plan"
	"mara/runner/internal/preflight"
	"mara/runner/internal/simulate"
	"mara/runner/internal/vault"
)

// Deps is the outside world, as far as a session has to do with it.
type Deps struct {
	vault.Console
	Engines       []string                  // where mara-engine may be, in order of preference
	Probes        preflight.Probes          // of this machine
	PluginFolders []string                  // folders in which resource providers and language hosts may be
	Interrupt     *interrupt.Levels         // how hard to stop; nil in tests that never stop
	Clouds        func() []simulate.Package // the clouds that can be simulated
	CloudClients  cloud.Clients             // ask the real ones; nil when they cannot be asked
}

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
}

// Known is what is known of projects and providers.
func (r Request) Known() catalogue.Catalogue {
	if r.Catalogue == nil {
		return catalogue.BuiltIn()
	}
	return *r.Catalogue
}

// Folder is where the runner keeps what it knows of the environment.
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

// resolving are the request's facts that settings are made from.
func (r Request) resolving() config.Request {
	o := config.Request{Describe: layers.Read, Root: r.Root, Stack: r.Stack, Provider: r.Provider, Sources: r.Sources, Simulate: r.Simulation.On}
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

// Options say how to open an environment.
type Options struct {
	Request
	Operation   operation.Operation
	Pulumi      string        // path of an installed Pulumi; "" for the engine inside
	LockTimeout time.Duration // how long to wait for another run
	Secrets     vault.Given
	NeedSecrets bool           // for the programs that the operation runs
	Selection   plan.Selection // of projects
	Profile     bool
	Shared      *Shared // with other sessions of this process; nil for nothing
	Refusal     error   // what is wrong with the command line, where nothing else is
	// Overrides are configuration values for this session only.
	Overrides []config.Change
	// Narrow chooses the projects that secrets and checks are about, where that
	// takes the settings; nil leaves it to the selection.
	Narrow func(*Session) plan.Selection
	// AtOnce is how many projects will be worked on at once; 0 counts as one.
	AtOnce int
}

// workers is how many workers are worth starting early: as many as will be
// needed, but no more than there are processors to start them on.
func (o Options) workers(projects int) int {
	return max(1, min(o.AtOnce, projects, runtime.NumCPU()))
}
