package e2e

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"mara/runner/internal/core/event"
)

// ending is how a disturbed run ended.
type ending struct {
	result
	met bool // the trouble came before the end
}

// disturb runs the case's operation and lets the trouble come.
func (e *environment) disturb(c chaosCase, trouble trouble, resume bool) ending {
	e.t.Helper()
	args := c.arguments(trouble.faults...)
	if resume {
		args = append(args, "--resume")
	}
	return e.disturbCommand(e.command(args...), c, trouble)
}

// disturbCommand lets the trouble come to a command that tells events.
func (e *environment) disturbCommand(cmd *exec.Cmd, c chaosCase, trouble trouble) ending {
	e.t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	end := ending{}
	var stream strings.Builder
	left := trouble.strikes()
	for lines, n := bufio.NewReader(stdout), 0; ; n++ {
		line, err := lines.ReadString('\n')
		stream.WriteString(line)
		if err != nil {
			break
		}
		again := len(left) < len(trouble.strikes()) && strings.Contains(line, `"run.stopping"`)
		if len(left) > 0 && (n == trouble.line || again) {
			time.Sleep(trouble.pause)
			end.met = left[0](e, c, trouble, cmd)
			left = left[1:]
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
	_ = cmd.Wait()
	end.result = result{code: cmd.ProcessState.ExitCode(), stdout: stream.String(), stderr: stderr.String()}
	if len(trouble.strikes()) == 0 {
		end.met = end.code != 0
	}
	return end
}

// strike does harm, and reports whether it has met anything.
type strike func(e *environment, c chaosCase, trouble trouble, cmd *exec.Cmd) bool

// strikes returns the disturbances, in their order.
func (t trouble) strikes() []strike {
	switch t.kind {
	case killRunner:
		return []strike{sendSignal(syscall.SIGKILL)}
	case killAll:
		return []strike{killEverything}
	case killWorker:
		return []strike{killSomeWorker}
	case interrupt:
		return []strike{sendSignal(syscall.SIGINT)}
	case interrupt2:
		return []strike{sendSignal(syscall.SIGINT), sendSignal(syscall.SIGINT)}
	case interrupt3:
		return []strike{sendSignal(syscall.SIGINT), sendSignal(syscall.SIGINT), sendSignal(syscall.SIGINT)}
	case terminate:
		return []strike{sendSignal(syscall.SIGTERM)}
	case fullDisk:
		return []strike{func(e *environment, c chaosCase, _ trouble, _ *exec.Cmd) bool {
			e.fill(c.disk)
			return true
		}}
	case refusals, cutConnections:
		return []strike{func(*environment, chaosCase, trouble, *exec.Cmd) bool {
			t.from()
			return true
		}}
	case readOnlyDisk:
		return []strike{func(e *environment, c chaosCase, _ trouble, _ *exec.Cmd) bool {
			return e.protect(c.disk)
		}}
	}
	return nil
}

func sendSignal(signal syscall.Signal) strike {
	return func(_ *environment, _ chaosCase, _ trouble, cmd *exec.Cmd) bool {
		return cmd.Process.Signal(signal) == nil
	}
}

// killEverything kills all processes, as when the machine goes down: none of them can
// clean up.
func killEverything(e *environment, _ chaosCase, _ trouble, cmd *exec.Cmd) bool {
	met := cmd.Process.Kill() == nil
	for pid := range e.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return met
}

// killSomeWorker kills one of the processes that the runner has started.
func killSomeWorker(e *environment, _ chaosCase, trouble trouble, cmd *exec.Cmd) bool {
	var workers []int
	for pid := range e.processes() {
		if pid != cmd.Process.Pid {
			workers = append(workers, pid)
		}
	}
	if len(workers) == 0 {
		return false
	}
	slices.Sort(workers)
	return syscall.Kill(workers[trouble.chance%len(workers)], syscall.SIGKILL) == nil
}

// checkEnd holds what a disturbed run must keep to, whatever disturbs it.
func (e *environment) checkEnd(trouble trouble, end ending) {
	e.t.Helper()
	e.checkNoProcess()
	allowed := []int{0, 1}
	switch trouble.kind {
	case killRunner, killAll:
		allowed = append(allowed, -1, 3, 4) // as a second trouble, it may be refused
	case interrupt, interrupt2, interrupt3, terminate:
		allowed = append(allowed, 130, 3, 4)
		e.checkInterrupted(end)
	default:
		allowed = append(allowed, 3, 4)
	}
	if !slices.Contains(allowed, end.code) {
		e.t.Errorf("%s: exit code %d\n%s%s", trouble.kind, end.code, lastLines(end.stdout), end.stderr)
	}
	for _, never := range []string{"panic:", "goroutine ", "SIGSEGV"} {
		if strings.Contains(end.stdout+end.stderr, never) {
			e.t.Errorf("%s: the output has %q:\n%s%s", trouble.kind, never, lastLines(end.stdout), end.stderr)
		}
	}
	if refused := end.code == 3 || end.code == 4; !refused && trouble.isOrderly() {
		e.checkNoLocks()
	}
}

// isOrderly reports whether the runner lives to put everything in order.
func (t trouble) isOrderly() bool {
	return !slices.Contains([]string{killRunner, killAll, fullDisk, readOnlyDisk}, t.kind)
}

// checkInterrupted: whoever interrupts a run that is not done with all its
// projects, none of which has failed, gets to know it.
func (e *environment) checkInterrupted(end ending) {
	e.t.Helper()
	if !end.met || end.stdout == "" {
		return
	}
	events := decode(e.t, end.stdout)
	if !slices.ContainsFunc(events, func(e event.Event) bool { return e.Type == event.RunStarted }) {
		return // a guard refused the run before it began, and only its findings are there
	}
	if last := events[len(events)-1]; last.Type != event.RunFinished {
		e.t.Errorf("the event stream ends with %s", last.Type)
	}
	switch got := results(events); {
	case got.Cancelled > 0 && end.code != 130:
		e.t.Errorf("exit code %d, want 130: %+v\n%s", end.code, got, end.stderr)
	case got.Cancelled == 0 && got.Failed == 0 && end.code == 130 && events[0].Operation.Destroys():
		// All projects are destroyed; the interrupt came while the destroy asked what is left.
	case got.Cancelled == 0 && got.Failed == 0 && end.code != 0:
		e.t.Errorf("exit code %d, want 0: %+v\n%s", end.code, got, end.stderr)
	}
}

// attempts is how often a user resumes before giving up.
const attempts = 12

// carryOn does what a user does after trouble: resume, and follow the hints.
func (e *environment) carryOn(c chaosCase) {
	e.t.Helper()
	e.carryOnUntil(c.arguments(), succeeded)
}

func succeeded(r result) bool { return r.code == 0 }

// carryOnUntil resumes a command, and follows the hints, until it ends as it should.
func (e *environment) carryOnUntil(command []string, isEnd func(result) bool) {
	e.t.Helper()
	resume, last := []string{"--resume"}, result{}
	for range attempts {
		last = e.run(append(slices.Clone(command), resume...)...)
		switch {
		case isEnd(last):
			return
		case e.followHints(last):
		case strings.Contains(lastLines(last.stdout)+last.stderr, "nothing to resume"):
			resume = nil
		default:
			e.t.Errorf("resuming: exit code %d\n%s%s", last.code, lastLines(last.stdout), last.stderr)
		}
	}
	e.t.Fatalf("%d attempts, and it is still not well: exit code %d\n%s%s", attempts, last.code, lastLines(last.stdout), last.stderr)
}

// followHints runs what a command has proposed, and reports whether it has proposed
// anything.
func (e *environment) followHints(r result) bool {
	e.t.Helper()
	hint := lastLines(r.stdout) + r.stderr
	switch {
	case strings.Contains(hint, "`runner unlock"):
		e.follow("unlock", append(e.simulation(), "--yes")...)
	case strings.Contains(hint, "`runner repair"):
		e.repairAll("dev")
	default:
		return false
	}
	return true
}

// repairAll repairs. It takes a second time where states had to be restored
// before anybody could look what was cut off in them.
func (e *environment) repairAll(stack string) {
	e.t.Helper()
	args := append([]string{"repair", "-s", stack, "--yes", "-o", "json"}, e.simulation()...)
	if r := e.run(append(args, e.existing(stack)...)...); r.code == 3 && strings.Contains(r.stderr, "the state file is truncated") {
		e.follow("repair", append(args[1:], e.existing(stack)...)...)
	} else if r.code != 0 {
		e.t.Fatalf("repair: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
}

// simulation returns the flag of commands on simulated clouds.
func (e *environment) simulation() []string {
	if e.real {
		return nil
	}
	return []string{"--simulate"}
}

func (e *environment) follow(command string, args ...string) {
	e.t.Helper()
	if r := e.run(append([]string{command}, args...)...); r.code != 0 {
		e.t.Fatalf("%s: exit code %d\n%s%s", command, r.code, lastLines(r.stdout), r.stderr)
	}
}

// checkRuns: whatever happened, the past can be looked at.
func (e *environment) checkRuns() {
	e.t.Helper()
	for _, command := range []string{"history", "show", "status"} {
		if r := e.run(command, "--simulate"); r.code != 0 {
			e.t.Errorf("%s: exit code %d\n%s%s", command, r.code, r.stdout, r.stderr)
		}
	}
}
