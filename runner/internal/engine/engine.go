// Package engine finds the program that runs Pulumi's commands, mara-engine or
// an installed Pulumi, and starts it.
package engine

import (
	"context"
	"errors"
	"fmt"
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

	"mara/runner/internal/failure"
	"mara/runner/internal/interrupt"
	"mara/runner/internal/pulumicli"
	"mara/runner/internal/stacks"
)

// Engine runs Pulumi's commands.
type Engine interface {
	stacks.Command
	// Warm starts workers in the background.
	Warm(workers int)
	// Unlock has commands use the key of a passphrase, so that they need not derive it.
	Unlock(salt string, key []byte)
	// Kill ends everything at once.
	Kill()
	// Close ends what is idle.
	Close() error
}

// Options say which engine to start, and how.
type Options struct {
	Installed string            // path of an installed Pulumi; "" for the embedded engine
	Embedded  []string          // where mara-engine may be, in order of preference
	Workers   int               // to start early
	Interrupt *interrupt.Levels // the third interrupt kills the engine; nil for none
	Log       *slog.Logger
	Now       func() time.Time
	// Watch wraps the engine, to measure its commands; nil leaves it as it is.
	Watch func(Engine) Engine
}

// Start finds the engine, which warms up. Call stop when nothing runs any more.
func Start(ctx context.Context, o Options) (e Engine, stop func() error, err error) {
	found, err := Find(o.Embedded, o.Installed)
	if err != nil {
		return nil, nil, &failure.Environment{Text: err.Error()}
	}
	e, err = found.open(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, &failure.Environment{Text: err.Error()}
	}
	e.Warm(o.Workers)
	o.Log.Debug("engine", "path", found.Path, "embedded", found.Embedded, "version", e.Version(), "warm", o.Workers)
	unwatch := killOnThird(o.Interrupt, e)
	return dress(e, o), func() error { unwatch(); return e.Close() }, nil
}

// Beside returns an engine for another environment, with the same workers but keys of
// its own. It ends with the one that was started.
func Beside(e Engine, o Options) Engine {
	if worn, ok := e.(logged); ok {
		e = worn.raw
	}
	if pool, ok := e.(*pulumicli.Pool); ok {
		e = pool.Beside()
	}
	return dress(e, o)
}

// dress has the commands of an engine logged and measured.
func dress(raw Engine, o Options) Engine {
	e := raw
	if o.Watch != nil {
		e = o.Watch(e)
	}
	return logged{e, raw, o.Log, o.Now}
}

// Found is a program that runs Pulumi's commands.
type Found struct {
	Path     string
	Embedded bool // it is mara-engine
}

func (f Found) open(ctx context.Context) (Engine, error) {
	if f.Embedded {
		return pulumicli.NewPool(f.Path), nil
	}
	return pulumicli.NewInstalled(ctx, f.Path)
}

// name is the file name of the embedded engine.
const name = "mara-engine"

// Find finds the installed Pulumi that is asked for; else the first mara-engine
// that exists among the paths; else a pulumi on PATH.
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
	return Found{}, fmt.Errorf("there is no engine: neither %s nor a pulumi on PATH; install mara-engine beside runner, or set RUNNER_ENGINE", name)
}

// killOnThird kills the engine when the user interrupts for the third time. The
// returned function ends the watch: afterwards nothing is killed any more.
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

// logged logs commands without their environment, which holds the passphrase.
type logged struct {
	Engine
	raw Engine // as it was started
	log *slog.Logger
	now func() time.Time
}

// Run implements auto.PulumiCommand.
func (l logged) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer, env []string, args ...string) (string, string, int, error) {
	began := l.now()
	l.log.Debug("pulumi begins", "args", strings.Join(args, " "), "dir", dir)
	out, errs, code, err := l.Engine.Run(ctx, dir, stdin, stdout, stderr, env, args...)
	l.log.Debug("pulumi ended", "command", CommandName(args), "project", ProjectOf(args), "exit", code, "took", l.now().Sub(began))
	return out, errs, code, err
}

// WithForesight implements stacks.Foreseer.
func (l logged) WithForesight(f *pulumicli.Foresight) stacks.Command {
	l.Engine = WithForesight(l.Engine, f)
	return l
}

// WithForesight returns an engine whose previews have foresight, or the engine
// itself where it has none to give.
func WithForesight(e Engine, f *pulumicli.Foresight) Engine {
	if able, ok := e.(stacks.Foreseer); ok {
		return foreseeing{e, able.WithForesight(f)}
	}
	return e
}

// foreseeing is an engine whose previews have foresight.
type foreseeing struct {
	Engine
	command stacks.Command
}

// Run implements auto.PulumiCommand.
func (f foreseeing) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer, env []string, args ...string) (string, string, int, error) {
	return f.command.Run(ctx, dir, stdin, stdout, stderr, env, args...)
}

// ProjectOf returns the project whose stack a Pulumi command works on; "" for none.
func ProjectOf(args []string) string {
	if i := slices.Index(args, "--stack"); i >= 0 && i+1 < len(args) {
		if parts := strings.Split(args[i+1], "/"); len(parts) == 3 {
			return parts[1]
		}
	}
	return ""
}

// CommandName returns what a Pulumi command is called: "up", "stack ls".
func CommandName(args []string) string {
	if args[0] == "stack" && len(args) > 1 {
		return args[0] + " " + args[1]
	}
	return args[0]
}

// None stands for an engine where nothing is to be done. It refuses all commands.
type None struct{}

// Run implements auto.PulumiCommand.
func (None) Run(context.Context, string, io.Reader, []io.Writer, []io.Writer, []string, ...string) (string, string, int, error) {
	return "", "", -1, errors.New("internal error: nothing has changed, but somebody wants to run Pulumi; --force runs all projects")
}

// Version implements auto.PulumiCommand.
func (None) Version() semver.Version { return sdk.Version }
