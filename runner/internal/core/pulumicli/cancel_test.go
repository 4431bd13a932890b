package pulumicli

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
)

// expiring is a context whose deadline passes when done is closed.
type expiring struct {
	context.Context
	done chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.done }

func (e expiring) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// commands returns a pool and an installed Pulumi whose commands ignore interrupts,
// and which have no grace for what passes its deadline.
func commands(t *testing.T) map[string]auto.PulumiCommand {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pool := newTestPool(t)
	pool.grace = 0
	installed, err := NewInstalled(t.Context(), script(t, `case "$*" in version) echo v3.250.0 ;; *) exec `+self+" "+fakeHang+" ;; esac"))
	if err != nil {
		t.Fatal(err)
	}
	installed.grace = 0
	return map[string]auto.PulumiCommand{"pool": pool, "installed": installed}
}

// TestReadingIsKilled cancels a command that waits for a backend.
func TestReadingIsKilled(t *testing.T) {
	t.Parallel()
	for name, command := range commands(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			started := make(chan struct{}, 1)
			go func() { <-started; cancel() }()
			_, _, _, err := command.Run(ctx, t.TempDir(), nil, []io.Writer{notifier(started)}, nil, nil, "stack", "ls", "--all")
			if err == nil || !strings.Contains(err.Error(), "killed") {
				t.Errorf("error = %v, want one that says killed", err)
			}
		})
	}
}

// TestTimeLimitKills lets an operation that ignores the interrupt pass its
// deadline.
func TestTimeLimitKills(t *testing.T) {
	t.Parallel()
	for name, command := range commands(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := expiring{t.Context(), make(chan struct{})}
			started := make(chan struct{}, 1)
			go func() { <-started; close(ctx.done) }()
			_, _, _, err := command.Run(ctx, t.TempDir(), nil, []io.Writer{notifier(started)}, nil, nil, "hang")
			if err == nil || !strings.Contains(err.Error(), "killed") {
				t.Errorf("error = %v, want one that says killed", err)
			}
		})
	}
}
