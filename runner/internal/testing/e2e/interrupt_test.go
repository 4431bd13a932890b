package e2e

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mara/runner/internal/core/event"
)

// TestInterrupts sends signals while the cluster is being created, which takes
// long enough to be met.
func TestInterrupts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		signals []syscall.Signal
		takes   string // the cluster, unless it is cancelled
		cluster event.Result
		engines []string
	}{
		{"Ctrl-C finishes what runs", []syscall.Signal{syscall.SIGINT}, "5s", event.Succeeded, []string{embedded}},
		{"a second one cancels it", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, "10m", event.Cancelled, []string{embedded, stock}},
		{"SIGTERM cancels it", []syscall.Signal{syscall.SIGTERM}, "10m", event.Cancelled, []string{embedded}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, test.engines, func(t *testing.T, e *environment) {
				events := e.interrupted(test.takes, test.signals...)
				cluster := finished(events)["kind-cluster"]
				if cluster.Result != test.cluster {
					t.Errorf("the cluster: %s (%s), want %s", cluster.Result, cluster.Reason, test.cluster)
				}
				if last := events[len(events)-1]; last.Type != event.RunFinished || last.Result != event.Interrupted {
					t.Errorf("the run ended with %s %s, want interrupted", last.Type, last.Result)
				}
				if locks, _ := filepath.Glob(filepath.Join(e.root, ".runner/simulated/state/.pulumi/locks/*/*/*/*.json")); len(locks) > 0 {
					t.Errorf("locks are left: %v", locks)
				}
				e.checkNothingIsLeft()
				if got := results(e.simulate(0, "up", "--only", few)); got != (event.Results{Succeeded: 3}) {
					t.Errorf("running again: %+v", got)
				}
			})
		})
	}
}

// interrupted runs up and sends the signals once the cluster is being created,
// which takes a while.
func (e *environment) interrupted(takes string, signals ...syscall.Signal) []event.Event {
	e.t.Helper()
	cmd := e.command("up", "-p", "kind", "--only", few, "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json",
		"--simulate-slow", "kind:index:Cluster="+takes)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	var stream strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		stream.WriteString(lines.Text() + "\n")
		if len(signals) > 0 && met(lines.Text()) {
			_ = cmd.Process.Signal(signals[0])
			signals = signals[1:]
		}
	}
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		e.t.Errorf("exit code %d (%v), want 130", code, err)
	}
	if errors.Is(err, os.ErrProcessDone) || len(signals) > 0 {
		e.t.Fatalf("the run ended before %v could be sent:\n%s", signals, lastLines(stream.String()))
	}
	return decode(e.t, stream.String())
}

// met says that the moment for the next signal has come: the cluster is being
// created, or the runner has said that it is stopping.
func met(line string) bool {
	return strings.Contains(line, `"run.stopping"`) ||
		strings.Contains(line, `"step.progress"`) && strings.Contains(line, "kind:index:Cluster") && strings.Contains(line, `"started"`)
}
