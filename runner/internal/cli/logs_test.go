package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/wire"
)

// recorded returns a root with a run of these events; a run that is not over leaves
// its journal open, as a runner that still works does.
func recorded(t *testing.T, meta journal.Meta, events []event.Event) (root string, j *journal.Journal) {
	t.Helper()
	root = cmdtest.Root(t, nil)
	d, _, _ := cmdtest.Deps(t)
	j, err := journal.Create(journal.Options{Dir: filepath.Join(root, ".runner", "runs"), ID: journal.NewID(d.Now()), Meta: meta})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		j.Emit(e)
	}
	return root, j
}

func TestLogs(t *testing.T) {
	t.Parallel()
	root, j := recorded(t, journal.Meta{}, eventtest.Failure())
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args          string
		code          int
		want, without string
	}{
		{"logs", 0, "kubeconfig: ", ""},
		{"logs kubeconfig", 0, "up kind/dev kubeconfig, run ", "kubeconfig: "},
		{"logs " + j.ID() + " kubeconfig", 0, "up kind/dev kubeconfig, run ", "kubeconfig: "},
		{"logs --errors", 0, "failed after", "kind-cluster"},
		{"logs --follow", 0, "kubeconfig: ", ""},
		{"logs -f kubeconfig", 0, "up kind/dev kubeconfig, run ", "kubeconfig: "},
		{"logs -o json kubeconfig", 0, `"project":"kubeconfig"`, `"project":"kind-cluster"`},
		{"logs -o json -f kubeconfig", 0, `"project":"kubeconfig"`, `"project":"kind-cluster"`},
		{"logs kubecnofig", 2, `has no log of "kubecnofig"; did you mean "kubeconfig"?`, ""},
		{"logs -f kubecnofig", 2, `has no log of "kubecnofig"; did you mean "kubeconfig"?`, ""},
		{"logs -f --errors", 2, "exclude each other", ""},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			d, stdout, stderr := cmdtest.Deps(t)
			d.Dir = root
			code := wire.Run(context.Background(), d, strings.Fields(tt.args))
			got := stdout.String() + stderr.String()
			if code != tt.code || !strings.Contains(got, tt.want) || tt.without != "" && strings.Contains(got, tt.without) {
				t.Errorf("exit code %d:\n%s", code, got)
			}
		})
	}
}

// observed is a writer that says when it has been written to.
type observed struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func (w *observed) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.written <- struct{}{}:
	default:
	}
	return w.text.Write(text)
}

// TestLogsFollow follows a run that goes on, and that ends only when something
// of it has been shown.
func TestLogsFollow(t *testing.T) {
	t.Parallel()
	host, _ := os.Hostname()
	events := eventtest.Failure()
	root, j := recorded(t, journal.Meta{Host: host, PID: os.Getpid()}, events[:5])
	d, _, stderr := cmdtest.Deps(t)
	out := &observed{written: make(chan struct{}, 1)}
	d.Dir, d.Stdout = root, out
	code := make(chan int)
	go func() { code <- wire.Run(context.Background(), d, []string{"logs", "--follow"}) }()
	<-out.written
	for _, e := range events[5:] {
		j.Emit(e)
	}
	if got := <-code; got != cmd.ExitDone || !strings.Contains(out.text.String(), "failed") {
		t.Errorf("exit code %d, %s\n%s", got, stderr, &out.text)
	}
}

func TestLogsFollowIsInterrupted(t *testing.T) {
	t.Parallel()
	root, _ := recorded(t, journal.Meta{Host: "elsewhere", PID: 1}, eventtest.Failure()[:5])
	d, _, stderr := cmdtest.Deps(t)
	out := &observed{written: make(chan struct{}, 1)}
	d.Dir, d.Stdout = root, out
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int)
	go func() { code <- wire.Run(ctx, d, []string{"logs", "--follow"}) }()
	<-out.written
	cancel()
	if got := <-code; got != cmd.ExitInterrupted || stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", got, stderr)
	}
}

func TestLogsFollowEndsWithTheRunner(t *testing.T) {
	t.Parallel()
	host, _ := os.Hostname()
	root, _ := recorded(t, journal.Meta{Host: host, PID: 1 << 30}, eventtest.Failure()[:5])
	d, stdout, stderr := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(context.Background(), d, []string{"logs", "--follow"}); code != cmd.ExitDone || stdout.Len() == 0 {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
}
