package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
	"mara/runner/internal/pulumicli"
	"mara/runner/internal/stacks"
)

// engine runs Pulumi's commands.
type engine interface {
	stacks.Command
	Warm(workers int) // gets ready in the background
	// Unlock derives the passphrase's key where the commands will need it.
	Unlock(ctx context.Context, passphrase, salt string) error
	Kill()        // ends everything at once
	Close() error // ends what is idle
}

// pulumiFlags choose another Pulumi than the one inside.
func pulumiFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "pulumi", Category: commonCategory, Usage: "use the installed Pulumi at `PATH` instead of the engine inside"},
	}
}

// startEngine chooses the engine and lets it get ready while the configuration
// is still being read.
func (s *session) startEngine(ctx context.Context, d Deps, o sessionOptions) (engine, error) {
	e, err := chooseEngine(ctx, d, o.Pulumi)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &failure.Environment{Text: err.Error()}
	}
	e.Warm(o.workers(len(s.plan.Steps)))
	stop := killWith(d, e)
	s.closers = append(s.closers, func() error { stop(); return e.Close() })
	s.engine = s.profile.watch(e)
	return s.engine, nil
}

// opener has the workers check the passphrase, each of which needs its key
// anyway: all of them at once, while this process has better things to do.
func (s *session) opener(ctx context.Context, e engine) encryption.Opener {
	if e == nil {
		return nil
	}
	return func(passphrase, salt string) error {
		err := e.Unlock(ctx, passphrase, salt)
		switch {
		case errors.Is(err, pulumicli.ErrPassphrase):
			return encryption.ErrPassphrase
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil: // whatever is wrong with the engine shows at the first command
			return errors.ErrUnsupported
		}
		return nil
	}
}

// chooseEngine makes the engine of what findEngine has found.
func chooseEngine(ctx context.Context, d Deps, installed string) (engine, error) {
	found, err := findEngine(d, installed)
	if err != nil {
		return nil, err
	}
	if found.embedded {
		return pulumicli.NewPool(found.path), nil
	}
	return pulumicli.NewInstalled(ctx, found.path)
}

// foundEngine is a program that runs Pulumi's commands.
type foundEngine struct {
	path     string
	embedded bool // it is mara-engine
}

// findEngine finds the Pulumi of --pulumi; else mara-engine, beside the runner or
// where RUNNER_ENGINE says; else a fitting pulumi on PATH.
func findEngine(d Deps, installed string) (foundEngine, error) {
	if installed != "" {
		return foundEngine{path: installed}, nil
	}
	for _, path := range d.Engines {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return foundEngine{path: path, embedded: true}, nil
		}
	}
	if path, err := exec.LookPath("pulumi"); err == nil {
		return foundEngine{path: path}, nil
	}
	return foundEngine{}, fmt.Errorf("there is no engine: neither %s nor a pulumi on PATH; install mara-engine beside runner, or set RUNNER_ENGINE", filepath.Base(engineName))
}

// engineName is the file name of the embedded engine.
const engineName = "mara-engine"

// killWith kills what the engine runs when the user interrupts for the third
// time. The returned function ends the watch.
func killWith(d Deps, e engine) (stop func()) {
	if d.Interrupt == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-d.Interrupt.Killed():
			e.Kill()
		case <-done:
		}
	}()
	return func() { close(done) }
}
