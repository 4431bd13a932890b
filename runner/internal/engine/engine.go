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

	"mara/runner/internal/encryption"
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
	// Unlock derives the passphrase's key in the workers, which need it, and
	// returns what ciphertexts stand for.
	Unlock(ctx context.Context, passphrase, salt string, ciphertexts []string) ([]string, error)
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

// Start finds the engine and lets it warm up in the background. Call stop when
// nothing runs any more.
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
	unwatch, raw := killOnThird(o.Interrupt, e), e
	if o.Watch != nil {
		e = o.Watch(e)
	}
	return logged{e, o.Log, o.Now}, func() error { unwatch(); return raw.Close() }, nil
}

// Opener checks passphrases, and opens what they encrypt, in the engine's workers. Each of them needs the key
// anyway, and they derive it while this process has other things to do.
func Opener(ctx context.Context, e Engine) encryption.Opener {
	if e == nil {
		return nil
	}
	return func(passphrase, salt string, ciphertexts []string) ([]string, error) {
		values, err := e.Unlock(ctx, passphrase, salt, ciphertexts)
		switch {
		case errors.Is(err, encryption.ErrPassphrase):
			return nil, err
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil: // the first command will say what is wrong with the engine
			return nil, errors.ErrUnsupported
		}
		return values, nil
	}
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

// logged is an engine whose commands are logged, without their environment,
// which holds the passphrase.
type logged struct {
	Engine
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

// Unlock implements Engine.
func (l logged) Unlock(ctx context.Context, passphrase, salt string, ciphertexts []string) ([]string, error) {
	began := l.now()
	values, err := l.Engine.Unlock(ctx, passphrase, salt, ciphertexts)
	l.log.Debug("key derived", "took", l.now().Sub(began), "error", err)
	return values, err
}

// ProjectOf is the project whose stack a Pulumi command works on; "" for none.
func ProjectOf(args []string) string {
	if i := slices.Index(args, "--stack"); i >= 0 && i+1 < len(args) {
		if parts := strings.Split(args[i+1], "/"); len(parts) == 3 {
			return parts[1]
		}
	}
	return ""
}

// CommandName is what a Pulumi command is called: "up", "stack ls".
func CommandName(args []string) string {
	if args[0] == "stack" && len(args) > 1 {
		return args[0] + " " + args[1]
	}
	return args[0]
}
