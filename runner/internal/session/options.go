package session

import (
	"runtime"
	"time"

	"mara/config"
	"mara/providers/operation"
	"mara/runner/internal/cloud"
	"mara/runner/internal/interrupt"
	"mara/runner/internal/layout"
	"mara/runner/internal/plan"
	"mara/runner/internal/preflight"
	"mara/runner/internal/simulate"
	"mara/runner/internal/stacks"
	"mara/runner/internal/vault"
)

// Deps is the outside world, as far as a session has to do with it.
type Deps struct {
	vault.Console
	Engines       []string                  // where mara-engine may be, in order of preference
	Probes        preflight.Probes          // of this machine
	PluginFolders []string                  // folders in which resource providers may be
	Interrupt     *interrupt.Levels         // how hard to stop; nil in tests that never stop
	Programs      stacks.Programs           // the programs of the projects
	Clouds        func() []simulate.Package // the clouds that can be simulated
	Plugins       func() map[string]string  // versions of Pulumi's plugins that the programs ask for, by name
	CloudClients  cloud.Clients             // ask the real ones; nil when they cannot be asked
}

// Request says which environment is meant.
type Request struct {
	Root        string       // "" when there is none
	NoRoot      error        // why Root is empty
	Stack       config.Value // of the flag
	Provider    config.Value // of the flag
	Sources     config.Sources
	Simulation  Simulation
	Interactive bool // questions may be asked
	Debug       bool
}

// Folder is where the runner keeps what it knows of the environment.
func (r Request) Folder() layout.Runner { return layout.Of(r.Root, r.Simulation.On) }

// Simulation is what the simulation flags say.
type Simulation struct {
	On    bool
	Speed float64
	Fail  []string // TYPE[=MESSAGE]
	Slow  []string // TYPE=DURATION
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
	Refusal     error // what is wrong with the command line, where nothing else is
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
