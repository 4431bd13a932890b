// Package engine finds the program that runs Pulumi's commands, mara-engine or
// an installed Pulumi, and starts it.
package engine

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/pulumicli"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
)

// Engine runs Pulumi's commands.
type Engine interface {
	stacks.Command
	// Warm starts workers in the background.
	Warm(workers int)
	// Unlock gives commands the key of a passphrase, so that they need not derive it.
	Unlock(salt string, key []byte)
	// Kill kills all processes.
	Kill()
	// Close ends idle processes.
	Close() error
}

// Options say which engine to start, and how.
type Options struct {
	Installed string            // path of an installed Pulumi; "" for the embedded engine
	Embedded  []string          // possible paths of mara-engine, in order of preference
	Workers   int               // number of workers to start early
	Interrupt *interrupt.Levels // the third interrupt kills the engine; nil for none
	Log       *slog.Logger
	Now       func() time.Time
	Profile   *Profile          // measures the commands; nil for none
	Backend   string            // its address
	Say       func(text string) // says, once, that a backend that keeps no files does not answer; nil for nothing
}

// Start finds the engine and starts its workers. Call stop when no command runs any more.
func Start(ctx context.Context, o Options) (e Engine, stop func() error, err error) {
	found, err := Find(o.Embedded, o.Installed)
	if err != nil {
		return nil, nil, &failure.Environment{Text: err.Error()}
	}
	if found.Embedded {
		e = pulumicli.NewPool(found.Path)
	} else {
		e, err = pulumicli.NewInstalled(ctx, found.Path)
	}
	if err != nil && ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, &failure.Environment{Text: err.Error()}
	}
	e.Warm(o.Workers)
	o.Log.Debug("engine", "path", found.Path, "embedded", found.Embedded, "version", e.Version(), "warm", o.Workers)
	unwatch := killOnThird(o.Interrupt, e)
	return newLogged(e, o), func() error { unwatch(); return e.Close() }, nil
}

// Beside returns an engine for another environment, with the same workers but separate keys.
// It ends with the engine that was started.
func Beside(e Engine, o Options) Engine {
	if started, ok := e.(logged); ok {
		e = started.Engine
	}
	if pool, ok := e.(*pulumicli.Pool); ok {
		e = pool.Beside()
	}
	return newLogged(e, o)
}

// Found is a program that runs Pulumi's commands.
type Found struct {
	Path     string
	Embedded bool // is mara-engine
}

// Find finds the requested installed Pulumi, or else the first existing mara-engine among the
// paths, or else a pulumi on PATH.
func Find(embedded []string, installed string) (Found, error) {
	if installed != "" {
		return Found{Path: installed}, nil
	}
	for _, path := range embedded {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return Found{Path: path, Embedded: true}, nil
		}
	}
	if path, err := exec.LookPath("pulumi"); err == nil {
		return Found{Path: path}, nil
	}
	return Found{}, errors.New("there is no engine: neither mara-engine nor a pulumi on PATH; install mara-engine " +
		"next to runner, or set RUNNER_ENGINE")
}

// killOnThird kills the engine on the third interrupt. The returned function ends the watch;
// after it has returned, nothing is killed.
func killOnThird(levels *interrupt.Levels, e Engine) (stop func()) {
	if levels == nil {
		return func() {}
	}
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-levels.Killed():
			e.Kill()
		case <-done:
		}
	})
	return func() { close(done); watch.Wait() }
}

// logged logs and measures commands, without their environment, which has the passphrase.
type logged struct {
	Engine
	command stacks.Command // runs the commands: the engine, perhaps with foresight
	options Options
	slow    func() // called when the backend has not answered for a while; nil for nothing
}

func newLogged(e Engine, o Options) logged {
	if pool, ok := e.(*pulumicli.Pool); ok && o.Profile != nil {
		o.Profile.workers = pool.Started
	}
	l := logged{Engine: e, command: e, options: o}
	if o.Say != nil && !strings.HasPrefix(o.Backend, "file://") {
		l.slow = sync.OnceFunc(func() {
			o.Say("waiting for the backend " + event.MaskURLs(o.Backend) + " to answer; Ctrl-C ends the wait")
		})
	}
	return l
}

// Run implements auto.PulumiCommand.
func (l logged) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer, env []string,
	args ...string) (string, string, int, error) {
	log, began := l.options.Log, l.options.Now()
	log.Debug("pulumi begins", "args", strings.Join(args, " "), "dir", dir)
	if l.slow != nil && asksBackend(args) {
		timer := time.AfterFunc(slowAfter, l.slow)
		defer timer.Stop()
	}
	out, errs, code, err := l.command.Run(ctx, dir, stdin, stdout, stderr, env, args...)
	took := l.options.Now().Sub(began)
	l.options.Profile.addCommand(args, took)
	log.Debug("pulumi ended", "command", commandName(args), "project", projectOf(args), "exit", code, "took", took)
	return out, errs, code, err
}

// slowAfter is how long a backend may take to answer before Options.Say says so.
const slowAfter = 5 * time.Second

// asksBackend reports whether a command waits for nothing but its backend.
func asksBackend(args []string) bool {
	return wire.ReadsOnly(args) || args[0] == "stack" || args[0] == "objects"
}

// WithForesight implements stacks.Foreseer. An engine that does not support foresight has none.
func (l logged) WithForesight(f *pulumicli.Foresight) stacks.Command {
	if able, ok := l.Engine.(stacks.Foreseer); ok {
		l.command = able.WithForesight(f)
	}
	return l
}

// StartAhead implements stacks.AheadStarter. An engine that does not support it starts nothing.
func (l logged) StartAhead(dir string, env, args []string) (*pulumicli.Ahead, error) {
	able, ok := l.Engine.(stacks.AheadStarter)
	if !ok {
		return nil, errors.New("an installed Pulumi starts no program ahead")
	}
	l.options.Log.Debug("a program starts ahead", "project", projectOf(args))
	return able.StartAhead(dir, env, args)
}

// projectOf returns the project of the stack in the arguments of a Pulumi command, or "".
func projectOf(args []string) string {
	if i := slices.Index(args, "--stack"); i >= 0 && i+1 < len(args) {
		if parts := strings.Split(args[i+1], "/"); len(parts) == 3 {
			return parts[1]
		}
	}
	return ""
}

// commandName returns the name of a Pulumi command: "up", "stack ls".
func commandName(args []string) string {
	if args[0] == "stack" && len(args) > 1 {
		return args[0] + " " + args[1]
	}
	return args[0]
}

// None is an engine for runs in which nothing has to run. It refuses all commands.
type None struct{}

// Run implements auto.PulumiCommand.
func (None) Run(context.Context, string, io.Reader, []io.Writer, []io.Writer, []string, ...string) (string, string, int,
	error) {
	return "", "", -1, errors.New("internal error: a Pulumi command was started although nothing has changed; --force " +
		"runs all projects")
}

// Version implements auto.PulumiCommand.
func (None) Version() semver.Version { return sdk.Version }
