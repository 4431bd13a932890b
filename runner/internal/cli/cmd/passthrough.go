package cmd

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/machine/failure"
)

// readTime is how long a command that only reads may take to exit after an interrupt.
const readTime = time.Second

// PassThrough runs a command in the foreground, on the runner's own streams, and returns its exit code, or that of an
// interrupt that has ended it. A terminal sends Ctrl-C to the command as well; PassThrough forwards a first interrupt
// that did not come from a terminal, and that of a command that only reads, which may be interrupted twice and is
// killed if it does not exit.
func PassThrough(ctx context.Context, d Deps, command *exec.Cmd) error {
	command.Stdin, command.Stdout, command.Stderr = d.Stdin, Direct(d.Stdout), d.Stderr
	interrupted, release := d.Interrupt.Gentle()
	defer release()
	if err := command.Start(); err != nil {
		return &failure.Environment{Text: fmt.Sprintf("starting %s: %v", command.Path, err)}
	}
	interrupt := func() { _ = command.Process.Signal(syscall.SIGINT) }
	stop := context.AfterFunc(ctx, interrupt)
	defer stop()
	ended := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		readsOnly := wire.ReadsOnly(command.Args[1:])
		select {
		case <-interrupted:
		case <-ended:
			return
		}
		if readsOnly || !d.StdinIsTerminal {
			interrupt()
		}
		if !readsOnly {
			return
		}
		select {
		case <-time.After(readTime):
			_ = command.Process.Kill()
		case <-ended:
		}
	})
	err := command.Wait()
	close(ended)
	watch.Wait()
	var exit *exec.ExitError
	switch {
	case err != nil && wasInterrupted(interrupted):
		return Exit(ExitInterrupted)
	case errors.As(err, &exit) && exit.Exited():
		return Exit(exit.ExitCode())
	case errors.As(err, &exit):
		return fmt.Errorf("%s was killed: %w", filepath.Base(command.Path), err)
	}
	return err
}

// wasInterrupted reports whether an interrupt has come.
func wasInterrupted(interrupted <-chan struct{}) bool {
	select {
	case <-interrupted:
		return true
	default:
		return false
	}
}
