package e2e

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"mara/runner/internal/prompt/prompttest"
)

// TestCtrlCOnATerminal presses Ctrl-C once, twice and three times. The
// terminal sends its signal to the whole foreground group; what runs Pulumi is
// not in it. Whatever happened, no lock and no process is left, and --resume
// carries on.
func TestCtrlCOnATerminal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		presses int
		engines []string
		want    []string // on the screen, after the presses
		cluster string   // its line in the table
	}{
		{"once", 1, []string{embedded, stock}, []string{"stopping, waiting for"}, "kind-cluster succeeded +3"},
		{"twice", 2, []string{embedded, stock}, []string{"cancelling kind-cluster; nothing new starts"}, "kind-cluster cancelled"},
		{"three times", 3, []string{embedded}, []string{"cancelling kind-cluster; nothing new starts"}, "kind-cluster cancelled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, test.engines, func(t *testing.T, e *environment) {
				screen := e.pressCtrlC(test.presses)
				words := strings.Join(strings.Fields(screen), " ")
				for _, want := range append(test.want, test.cluster, "INTERRUPTED", "--resume") {
					if !strings.Contains(words, want) {
						t.Errorf("the screen does not say %q:\n%s", want, lastLines(screen))
					}
				}
				e.checkNoProcess()
				e.checkNoLocks()
				e.checkNoWorkingCopy()
				e.carryOn(chaosCase{operation: "up", provider: "kind"})
				if r := e.run("status", "--simulate"); !strings.Contains(r.stdout, "14 of 14 projects deployed") {
					t.Errorf("status: %s%s", r.stdout, r.stderr)
				}
			})
		})
	}
}

// pressCtrlC runs up on a terminal, one project at a time so that nothing else
// ends meanwhile, presses Ctrl-C that often while the cluster is created, and
// returns what was on the screen. A third press is for a Pulumi that does not
// react: it is stopped by then.
func (e *environment) pressCtrlC(presses int) string {
	e.t.Helper()
	terminal, side := prompttest.Open(e.t)
	takes := "10m"
	if presses == 1 {
		takes = "5s" // it is waited for
	}
	cmd := e.command("up", "-p", "kind", "--simulate", "--simulate-speed", "100000", "--yes", "--parallel", "1", "--simulate-slow", "kind:index:Cluster="+takes)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "NO_COLOR=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = side, side, side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	terminal.Expect("creating Cluster")
	if presses == 3 {
		e.stopWorkers()
	}
	terminal.Press("\x03")
	terminal.Expect("stopping, waiting for")
	if presses > 1 {
		terminal.Press("\x03")
		if presses > 2 {
			terminal.Expect("Ctrl-C again: kill")
			terminal.Press("\x03")
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		e.t.Errorf("it ended with %v, want exit code 130:\n%s", err, lastLines(terminal.Screen()))
	}
	terminal.Expect("Report:")
	return terminal.Screen()
}

// stopWorkers lets nobody but the kernel end the workers.
func (e *environment) stopWorkers() {
	e.t.Helper()
	for pid, line := range e.processes() {
		if strings.Contains(line, "--mara-worker") {
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				e.t.Error(err)
			}
		}
	}
}
