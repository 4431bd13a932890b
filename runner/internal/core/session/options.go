package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/projects/model/operation"
	"mara/runner/internal/core/hooks"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/machine/interrupt"
)

// Deps is the outside world, as far as a session has to do with it.
type Deps struct {
	vault.Console
	World
	Version      string            // of the runner
	Engines      []string          // where mara-engine may be, in order of preference
	Probes       Probes            // of this machine
	PluginDirs   []string          // directories in which resource providers and language hosts may be
	Interrupt    *interrupt.Levels // how hard to stop; nil in tests that never stop
	CloudClients cloud.Clients     // ask the clouds; nil when they cannot be asked
	Variables    func() []string   // names of the variables that the runner reads; nil if they are not known
}

// Note prints a note for people; "" prints nothing.
func (d Deps) Note(text string) {
	if text != "" {
		fmt.Fprintln(d.Stderr, "note: "+text)
	}
}

// World is what comes with the runner, and what features do for the core: main puts it together. A nil field switches
// its thing off.
type World struct {
	BuiltIn func() *model.Catalogue // the built-in providers and projects

	// Simulate serves the simulated clouds of an environment until its session closes. It returns the variables that
	// direct Pulumi to them, and warnings.
	Simulate func(context.Context, *Resolved) (env map[string]string, warnings []string, err error)
	// Simulated lists the resources that the simulated clouds keep in a directory.
	Simulated func(directory string) (cloud.Located, error)

	// Check starts to check, in the background, what an operation needs.
	Check func(context.Context, *Resolved) Checking
	// Explain adds to the error that has kept an environment from being opened what else is wrong.
	Explain func(context.Context, Deps, Options, error) error
	// Accounts asks whose credentials projects deploy with.
	Accounts func(ctx context.Context, s *Resolved, projects []string) []Account
	// Answers are what a cluster that is there already answers for keys that are not set.
	Answers func(context.Context, *Resolved, config.StackFile) ([]config.Answer, error)

	// Charts returns how charts are fetched, with a cache, and what ends its use.
	Charts func(env map[string]string, cache string) (fetch FetchChart, end func() error)
	Nodes  hooks.Nodes // of clusters on this machine
}

// Account is the account in a cloud that a project deploys to, as its credentials say.
type Account struct {
	Project, Cloud string
	ID             string // "" if it is not known
	Unknown        string // why it is not
	// Keys are the inputs of a provider in a program that choose other credentials.
	Keys []string
}

// FetchChart fetches a version of a Helm chart. The error is an ErrNoChart where the repository does not have it.
type FetchChart func(ctx context.Context, repository, name, version string) ([]byte, error)

// ErrNoChart says that a registry or a repository does not have a chart, or not in that version.
var ErrNoChart = errors.New("does not have it")

// Checking is the checks of an operation while they run. Each function waits for its checks.
type Checking struct {
	Needed  func(*stacks.Set) error // of what has to be there; the stacks are nil before they are open
	Claimed func(*stacks.Set) error // of what is in the place of projects without a state
	Offered func(*stacks.Set)       // of what the cloud offers; it only warns
}

// check starts the checks, if there are any.
func (w World) check(ctx context.Context, s *Resolved) Checking {
	if w.Check == nil {
		nothing := func(*stacks.Set) error { return nil }
		return Checking{Needed: nothing, Claimed: nothing, Offered: func(*stacks.Set) {}}
	}
	return w.Check(ctx, s)
}

// Probes replace the access to this machine, for tests. A nil probe is the real one.
type Probes struct {
	Listen func(address string, port int) error // tries to listen on a port
	Read   func(path string) ([]byte, error)    // reads a file of the kernel
}

// Options say how to open an environment.
type Options struct {
	request.Request
	Operation   operation.Operation
	Pulumi      string        // path of an installed Pulumi; "" for the engine inside
	LockTimeout time.Duration // how long to wait for another run
	Waiting     Waiting       // for it, in a rollout
	Secrets     vault.Given
	NeedSecrets bool           // for the programs that the operation runs
	Selection   plan.Selection // of projects
	Profile     bool
	Shared      *Shared         // with other sessions of this process; nil for nothing
	Refusal     error           // what is wrong with the command line, where nothing else is
	Overrides   []config.Change // configuration values for this session only
	// Admit judges every resource of simulated clouds, as they describe it; nil admits all.
	Admit func(ctx context.Context, object any, preview bool) error
	// Narrow chooses the projects that secrets and checks are about, where that
	// takes the settings; nil leaves it to the selection.
	Narrow    func(*Resolved) plan.Selection
	NoJournal bool // states are written whole after each step
	Operates  bool // programs of the repository run, with all variables of its environment file
	AtOnce    int  // projects that will be worked on at once; 0 counts as one
}

// Waiting is how to wait for others who have locked something.
type Waiting struct {
	Tell func(text string) // nil tells the terminal
	Stop <-chan struct{}   // ends it; nil never does
}

// teller returns a function that prints what a run waits for.
func (w Waiting) teller(terminal io.Writer) func(text string) {
	if w.Tell != nil {
		return w.Tell
	}
	return func(text string) { fmt.Fprintln(terminal, text) }
}

// Until returns a context that ends with the time to wait.
func (w Waiting) Until(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-w.Stop:
			cancel(interrupt.ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}
