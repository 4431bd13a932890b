package pulumicli

import (
	"context"
	"errors"
	"slices"
	"time"

	"mara/runner/internal/process"
)

// grace is how long a command that has reached its time limit may take to end
// after it was interrupted.
const grace = time.Minute

// reads are the commands that change nothing.
var reads = [][]string{
	{"stack", "ls"}, {"stack", "export"}, {"stack", "output"}, {"stack", "history"},
	{"whoami"}, {"org", "get-default"}, {"version"}, {"objects", "list"},
}

// readsOnly reports whether a command changes nothing. Such a command holds no
// lock, and can be killed at any time.
func readsOnly(args []string) bool {
	return slices.ContainsFunc(reads, func(words []string) bool {
		return len(args) >= len(words) && slices.Equal(args[:len(words)], words)
	})
}

// cancelWith ends the command of the process pid, which leads its group, when
// ctx ends. A command that only reads is killed. Any other is interrupted once,
// as by one Ctrl-C, and kept waiting for; if ctx has passed its deadline, it is
// killed after the grace period, because no user may be there to do so. The
// returned function ends the watch: afterwards nothing is sent any more.
func cancelWith(ctx context.Context, pid int, args []string, grace time.Duration) (stop func()) {
	ended, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		select {
		case <-ctx.Done():
		case <-ended:
			return
		}
		if readsOnly(args) {
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
