package pulumicli

import (
	"context"
	"errors"
	"slices"
	"time"

	"mara/runner/internal/machine/process"
)

// grace is how long an interrupted command may take to exit after its time limit.
const grace = time.Minute

// reads lists the commands that change nothing.
var reads = [][]string{
	{"stack", "ls"}, {"stack", "export"}, {"stack", "output"}, {"stack", "history"},
	{"whoami"}, {"org", "get-default"}, {"version"}, {"objects", "list"},
}

// readsOnly reports whether a command changes nothing. Such a command holds no lock, so it
// can be killed at any time.
func readsOnly(args []string) bool {
	return slices.ContainsFunc(reads, func(words []string) bool {
		return len(args) >= len(words) && slices.Equal(args[:len(words)], words)
	})
}

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
