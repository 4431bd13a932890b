package session

import (
	"context"
	"fmt"
	"io"
	"mara/projects/model"
	"time"

	"mara/config"
	"mara/projects/model/cloud"
	"mara/projects/model/operation"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/machine/interrupt"
)

// Deps is the outside world, as far as a session has to do with it.
type Deps struct {
	vault.Console
	Version      string                    // of the runner
	BuiltIn      func() *model.Catalogue   // the providers and projects that come with the runner; nil for none
	Engines      []string                  // where mara-engine may be, in order of preference
	Probes       preflight.Probes          // of this machine
	PluginDirs   []string                  // directories in which resource providers and language hosts may be
	Interrupt    *interrupt.Levels         // how hard to stop; nil in tests that never stop
	Clouds       func() []simulate.Package // the clouds that can be simulated
	CloudClients cloud.Clients             // ask the real ones; nil when they cannot be asked
	// Charts returns where charts are fetched from, with a cache, and what ends its use; nil where none can be fetched.
	Charts    func(env map[string]string, cache string) (charts mirror.Fetcher, end func() error)
	Variables func() []string // names of the variables that the runner reads; nil if they are not known
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
	Shared      *Shared            // with other sessions of this process; nil for nothing
	Refusal     error              // what is wrong with the command line, where nothing else is
	Overrides   []config.Change    // configuration values for this session only
	Admit       simulate.Admission // judges every simulated resource; nil admits all
	// Narrow chooses the projects that secrets and checks are about, where that
	// takes the settings; nil leaves it to the selection.
	Narrow    func(*Session) plan.Selection
	NoJournal bool // states are written whole after each step
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
