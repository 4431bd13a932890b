package pulumicli

import (
	"context"
	"errors"
	"time"

	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/machine/process"
)

// grace is how long an interrupted command may take to exit after its time limit.
const grace = time.Minute

// cancelWith ends the command of the process pid, which leads its process group, when ctx
// ends. It kills a command that only reads. It interrupts any other command once, as one Ctrl-C
// does; if ctx has exceeded its deadline, it kills the command after the grace period, because
// there may be no user to do so. The returned function ends the watch; after it has returned,
// no signal is sent.
func cancelWith(ctx context.Context, pid int, args []string, grace time.Duration) (stop func()) {
	ended, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		select {
		case <-ctx.Done():
		case <-ended:
			return
		}
		if wire.ReadsOnly(args) {
			process.Kill(pid)
			return
		}
		process.Interrupt(pid)
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return
		}
		select {
		case <-time.After(grace):
			process.Kill(pid)
		case <-ended:
		}
	}()
	return func() {
		close(ended)
		<-left
	}
}
