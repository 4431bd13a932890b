// Package child runs the runner's own commands in child processes, for pages whose answer takes time and memory: a
// program in jq that takes all memory takes a child's. A child is stopped after a time, when it prints too much, and,
// on Linux, when it takes too much memory.
package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"mara/runner/internal/core/session"
)

const (
	mostAtOnce = 2                // children
	mostTime   = 30 * time.Second // for a child
	mostOutput = 64 << 20         // bytes
	mostMemory = 2 << 30          // bytes
)

// errTooMuch ends a command that prints too much.
var errTooMuch = errors.New("the result is too large; choose less of it")

// Command runs the runner with arguments and returns what it prints.
type Command func(ctx context.Context, args ...string) (stdout []byte, err error)

// FailedError is the error of a command that ended with a code; its text is what the command said.
type FailedError struct{ Text string }

// Error returns what the command said.
func (e *FailedError) Error() string { return e.Text }

// Runner runs commands, a few at the same time.
type Runner struct {
	run   Command
	turns chan struct{}
}

// New returns a runner of a command.
func New(run Command) *Runner { return &Runner{run: run, turns: make(chan struct{}, mostAtOnce)} }

// Run runs a command when it is its turn.
func (r *Runner) Run(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
		return nil, errors.New("other queries still run; try again in a moment")
	}
	return r.run(ctx, args...)
}

// Self returns a Command that runs this program for the root of some options.
func Self(o session.Options) (Command, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, args ...string) ([]byte, error) {
		flags := []string{"--root", o.Root}
		if o.Simulation.On {
			flags = append(flags, "--simulate")
		}
		return run(ctx, o.Root, self, append(flags, args...), mostMemory)
	}, nil
}

// run runs a program with limits.
func run(ctx context.Context, dir, program string, args []string, memory int64) ([]byte, error) {
	child := exec.CommandContext(ctx, program, args...)
	child.Dir = dir
	// The program collects its garbage before the limit that ends it.
	child.Env = append(os.Environ(), "NO_COLOR=1", fmt.Sprintf("GOMEMLIMIT=%d", memory/4*3))
	stdout, stderr := &limited{most: mostOutput}, &limited{most: 1 << 20}
	child.Stdout, child.Stderr = stdout, stderr
	child.WaitDelay = time.Second
	if err := child.Start(); err != nil {
		return nil, err
	}
	limitErr := limitMemory(child.Process.Pid, memory)
	if limitErr != nil {
		_ = child.Process.Kill()
	}
	err := child.Wait()
	switch text := strings.TrimSpace(strings.TrimPrefix(stderr.kept.String(), "error: ")); {
	case stdout.full:
		return nil, errTooMuch
	case ctx.Err() != nil:
		return nil, fmt.Errorf("it took longer than %s", mostTime)
	case limitErr != nil && err != nil: // it may have ended before it could be limited
		return nil, fmt.Errorf("the memory of the query cannot be limited: %w", limitErr)
	case err != nil && isOutOfMemory(text):
		return nil, fmt.Errorf("it needs more than %d MiB of memory; choose less", memory>>20)
	case err != nil:
		return stdout.kept.Bytes(), &FailedError{text}
	}
	return stdout.kept.Bytes(), nil
}

// isOutOfMemory reports whether a Go program ended because it got no memory.
func isOutOfMemory(stderr string) bool {
	return strings.Contains(stderr, "out of memory") || strings.Contains(stderr, "cannot allocate memory")
}

// limited keeps the beginning of an output. It does not embed its buffer, whose ReadFrom has no limit.
type limited struct {
	kept bytes.Buffer
	most int
	full bool
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	if l.kept.Len()+len(b) > l.most {
		l.full = true
		return 0, errTooMuch
	}
	return l.kept.Write(b)
}
