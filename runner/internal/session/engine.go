package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

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

// startEngine chooses the engine and lets it get ready while the configuration
// is still being read.
func (s *Session) startEngine(ctx context.Context) (engine, error) {
	found, err := FindEngine(s.deps, s.options.Pulumi)
	if err != nil {
		return nil, &failure.Environment{Text: err.Error()}
	}
	e, err := found.open(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &failure.Environment{Text: err.Error()}
	}
	n := s.options.workers(len(s.Plan.Steps))
	e.Warm(n)
	s.log.Debug("engine", "path", found.Path, "embedded", found.embedded, "version", e.Version(), "warm", n)
	stop := killWith(s.deps, e)
	s.closers = append(s.closers, func() error { stop(); return e.Close() })
	s.engine = logged{s.Profile.watch(e), s.log, s.deps.Now}
	return s.engine, nil
}

// opener has the workers check the passphrase, each of which needs its key
// anyway: all of them at once, while this process has better things to do.
func (s *Session) opener(ctx context.Context, e engine) encryption.Opener {
	if e == nil {
		return nil
	}
	return func(passphrase, salt string) error {
		err := e.Unlock(ctx, passphrase, salt)
		switch {
		case errors.Is(err, encryption.ErrPassphrase):
			return err
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil: // whatever is wrong with the engine shows at the first command
			return errors.ErrUnsupported
		}
		return nil
	}
}

// FoundEngine is a program that runs Pulumi's commands.
type FoundEngine struct {
	Path     string
	embedded bool // it is mara-engine
}

func (f FoundEngine) open(ctx context.Context) (engine, error) {
	if f.embedded {
		return pulumicli.NewPool(f.Path), nil
	}
	return pulumicli.NewInstalled(ctx, f.Path)
}

// FindEngine finds the Pulumi of --pulumi; else mara-engine, beside the runner or
// where RUNNER_ENGINE says; else a fitting pulumi on PATH.
func FindEngine(d Deps, installed string) (FoundEngine, error) {
	if installed != "" {
		return FoundEngine{Path: installed}, nil
	}
	for _, path := range d.Engines {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return FoundEngine{Path: path, embedded: true}, nil
		}
	}
	if path, err := exec.LookPath("pulumi"); err == nil {
		return FoundEngine{Path: path}, nil
	}
	return FoundEngine{}, fmt.Errorf("there is no engine: neither %s nor a pulumi on PATH; install mara-engine beside runner, or set RUNNER_ENGINE", engineName)
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
