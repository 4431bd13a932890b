package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mara/runner/internal/core/event"
)

// TestOneRunAtATime runs up while another run creates the cluster.
func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	first := e.untilCluster()

	for _, operation := range []string{"up", "destroy", "preview"} {
		r := e.run(operation, "-p", "kind", "--simulate", "--yes")
		if r.code != 4 || r.stdout != "" {
			t.Errorf("%s beside another run: exit code %d, want 4; stdout %q", operation, r.code, r.stdout)
		}
		for _, want := range []string{"locked by", "(process ", ": up, run ", "since 20", "--lock-timeout"} {
			if !strings.Contains(r.stderr, want) {
				t.Errorf("%s: the message does not say %q: %s", operation, want, r.stderr)
			}
		}
	}
	if got := results(e.simulate(0, "up", "--lock-timeout", "2m", "-p", "kind")); got != (event.Results{Succeeded: 14}) {
		t.Errorf("up after a wait: %+v", got)
	}
	if err := first.Wait(); err != nil {
		t.Errorf("the first run: %v", err)
	}
	e.checkNoLocks()
}

// TestKilledRun kills the runner alone: its workers put the state in order, and
// the next run takes its lock over.
func TestKilledRun(t *testing.T) {
	t.Parallel()
	eachEngine(t, []string{embedded}, func(t *testing.T, e *environment) {
		first := e.untilCluster()
		if err := first.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = first.Wait()
		events := e.simulate(0, "up", "-p", "kind", "--resume", "--lock-timeout", "1m")
		// What needs no cluster may have been done before.
		if got := results(events); got.Succeeded < 13 || got.Succeeded != len(ran(events)) {
			t.Errorf("resuming: %+v", got)
		}
		if text := strings.Join(warnings(events), "\n"); !strings.Contains(text, "did not end properly") {
			t.Errorf("the warnings do not tell of the killed run: %s", text)
		}
		e.checkNoLocks()
	})
}

// untilCluster starts an up and returns while it creates the cluster.
func (e *environment) untilCluster() *exec.Cmd {
	e.t.Helper()
	cmd := e.command("up", "-p", "kind", "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json",
		"--simulate-slow", "kind:index:Cluster=8s")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if met(lines.Text()) {
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			return cmd
		}
	}
	e.t.Fatal("the run ended before it created the cluster")
	return nil
}

// checkNoLocks looks for locks that were left: the runner's and Pulumi's.
func (e *environment) checkNoLocks() {
	e.t.Helper()
	for _, pattern := range []string{".runner/simulated/locks/*", ".runner/simulated/state/.pulumi/locks/*/*/*/*.json"} {
		if left, _ := filepath.Glob(filepath.Join(e.root, pattern)); len(left) > 0 {
			e.t.Errorf("locks are left: %v", left)
		}
	}
}
