package e2e

import (
	"bufio"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/testing/prompttest"
)

// TestCtrlCOnATerminal presses Ctrl-C once, twice and three times. The
// terminal sends its signal to the whole foreground group; what runs Pulumi is
// not in it. Whatever happened, no lock and no process is left, and --resume
// continues.
func TestCtrlCOnATerminal(t *testing.T) {
	t.Parallel()
	long(t)
	for _, test := range []struct {
		name    string
		presses int
		want    []string // on the screen, after the presses
		cluster string   // its line in the table
	}{
		{"once", 1, []string{"stopping, waiting for"}, "kind-cluster succeeded +3"},
		{"twice", 2, []string{"cancelling kind-cluster; nothing new starts"}, "kind-cluster cancelled"},
		{"three times", 3, []string{"cancelling kind-cluster; nothing new starts"}, "kind-cluster cancelled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
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
			if r := e.run("status", "--simulate"); !strings.Contains(r.stdout, "3 of 14 projects deployed") {
				t.Errorf("status: %s%s", r.stdout, r.stderr)
			}
		})
	}
}

// TestTerminalIsClosed closes the terminal of a run: the shell and the kernel
// send SIGHUP, and nothing can be written any more. The run is cancelled, its
// journal is complete, and --resume continues.
func TestTerminalIsClosed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	terminal, cmd := e.upOnATerminal("10m")
	terminal.Expect("creating Cluster")
	terminal.HangUp()
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil { // as the shell does besides
		t.Error(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("it ended with %v, want exit code 130", cmd.ProcessState)
	}
	events := decode(t, e.output("show", "--simulate", "-o", "json"))
	if last := events[len(events)-1]; last.Type != event.RunFinished || last.Result != event.Interrupted {
		t.Errorf("the journal ends with %s %s, want run.finished interrupted", last.Type, last.Result)
	}
	if cluster := finished(events)["kind-cluster"]; cluster.Result != event.Cancelled {
		t.Errorf("the cluster: %s (%s), want cancelled", cluster.Result, cluster.Reason)
	}
	e.checkNoProcess()
	e.checkNoLocks()
	e.checkNoWorkingCopy()
	if got := results(e.simulate(0, "up", "--resume")); got != (event.Results{Succeeded: 3}) {
		t.Errorf("resuming: %+v", got)
	}
}

// TestNohup: who does not want a run to end with its terminal says so, as ever.
func TestNohup(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	cmd := e.command("up", "-p", "kind", "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json", "--simulate-slow", "kind:index:Cluster=3s")
	cmd.Args = append([]string{"nohup"}, cmd.Args...)
	path, err := exec.LookPath("nohup")
	if err != nil {
		t.Skip(err)
	}
	cmd.Path = path
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, sent := bufio.NewScanner(stdout), false
	for lines.Scan() {
		if !sent && met(lines.Text()) {
			sent = true
			_ = cmd.Process.Signal(syscall.SIGHUP)
		}
	}
	if err := cmd.Wait(); err != nil || !sent {
		t.Errorf("it ended with %v, and SIGHUP was sent: %t", err, sent)
	}
}

// pressCtrlC runs up on a terminal, one project at a time so that nothing else
// ends meanwhile, presses Ctrl-C that often while the cluster is created, and
// returns what was on the screen. A third press is for a Pulumi that does not
// react: it is stopped by then.
func (e *environment) pressCtrlC(presses int) string {
	e.t.Helper()
	takes := "10m"
	if presses == 1 {
		takes = "5s" // it is waited for
	}
	terminal, cmd := e.upOnATerminal(takes)
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

// upOnATerminal starts an up on a terminal of its own, in which the cluster
// takes a while.
func (e *environment) upOnATerminal(takes string) (*prompttest.Terminal, *exec.Cmd) {
	e.t.Helper()
	terminal, side := prompttest.Open(e.t)
	cmd := e.command("up", "-p", "kind", "--only", few, "--simulate", "--simulate-speed", "100000", "--yes", "--parallel", "1", "--simulate-slow", "kind:index:Cluster="+takes)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "NO_COLOR=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = side, side, side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	return terminal, cmd
}

// stopWorkers stops the workers, so that only the kernel can end them.
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
