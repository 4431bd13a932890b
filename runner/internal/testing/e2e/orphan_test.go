package e2e

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingIsLeft after runs that end in each way there is. The worker's
// environment tells whose it is: HOME is the test's own.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		code int
		args []string
	}{
		{"success", 0, []string{"up"}},
		{"failure", 1, []string{"up", "--simulate-fail", "kind:index:Cluster"}},
		{"a refusal", 2, []string{"up", "--parallel", "0"}},
		{"a look", 0, []string{"status"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			args := append(test.args, "-p", "kind", "--simulate", "--simulate-speed", "100000")
			if test.args[0] == "up" {
				args = append(args, "--yes")
			}
			if r := e.run(args...); r.code != test.code {
				t.Fatalf("exit code %d, want %d\n%s%s", r.code, test.code, lastLines(r.stdout), r.stderr)
			}
			e.checkNothingIsLeft()
		})
	}
}

// TestKilledRunner: when the runner is killed in the middle of an operation,
// its workers cancel what they do and end, and leave no lock; the next run
// continues.
func TestKilledRunner(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"up", "refresh", "destroy"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			if operation != "up" {
				e.simulate(0, "up", "-p", "kind")
			}
			e.killed(operation)
			e.checkNoProcess()
			if locks, _ := filepath.Glob(filepath.Join(e.root, ".runner/simulated/state/.pulumi/locks/*/*/*/*.json")); len(locks) > 0 {
				t.Errorf("locks are left: %v", locks)
			}
			if r := e.run("status", "--simulate"); r.code != 0 || strings.Contains(r.stdout, "locked") {
				t.Errorf("status: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}

// TestKilledPrograms: when the process that serves the programs is killed, the
// run says so, what was begun is finished, and the next run continues.
func TestKilledPrograms(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	cmd := e.command("up", "-p", "kind", "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json", "--simulate-slow", "kind:index:Cluster=5s")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed, warned := 0, false
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		line := lines.Text()
		warned = warned || strings.Contains(line, "pulumi-language-mara exited during the run")
		if killed > 0 || !strings.Contains(line, "kind:index:Cluster") {
			continue
		}
		for pid, command := range e.processes() {
			if strings.Contains(command, "pulumi-language-mara") && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
	}
	_ = cmd.Wait()
	if killed != 1 || !warned || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%d processes were killed, a warning: %t, %s", killed, warned, cmd.ProcessState)
	}
	if got := results(e.simulate(0, "up", "--resume")); got.Failed > 0 || got.Succeeded == 0 {
		t.Errorf("the next run: %+v", got)
	}
	e.checkNothingIsLeft()
}

// killed runs an operation until the cluster is being worked on, and kills the
// runner.
func (e *environment) killed(operation string) {
	e.t.Helper()
	cmd := e.command(operation, "-p", "kind", "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json",
		"--simulate-slow", "kind:index:Cluster=60s")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	met := false
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		line := lines.Text()
		if !met && strings.Contains(line, "kind:index:Cluster") && strings.Contains(line, `"started"`) {
			met = true
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !met || ok && !status.Signaled() {
		e.t.Fatalf("the run ended by itself: %s", cmd.ProcessState)
	}
}

// farewell is what processes get to end after the runner has. A worker that
// cancels an operation waits for Pulumi to save its state.
const farewell = time.Minute

// checkNothingIsLeft of a run but what it is for.
func (e *environment) checkNothingIsLeft() {
	e.t.Helper()
	e.checkNoProcess()
	e.checkNoWorkingCopy()
	if left, err := os.ReadDir(e.temp); err != nil || len(left) > 0 {
		e.t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// checkNoProcess waits for the end of the test's own processes.
func (e *environment) checkNoProcess() {
	e.t.Helper()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		e.t.Skipf("processes cannot be looked at here: %v", err)
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		left := e.processes()
		if len(left) == 0 {
			return
		}
		if time.Since(began) > farewell {
			for pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			e.t.Fatalf("processes are left: %v", left)
		}
	}
}

// processes returns the command lines of the processes that were started in this
// environment.
func (e *environment) processes() map[int]string {
	e.t.Helper()
	found := map[int]string{}
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		e.t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(content), "\x00HOME="+e.home+"\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
	}
	return found
}

// checkNoWorkingCopy looks for the directories that Pulumi ran in.
func (e *environment) checkNoWorkingCopy() {
	e.t.Helper()
	if left, _ := filepath.Glob(filepath.Join(e.root, ".runner/simulated/work/*")); len(left) > 0 {
		e.t.Errorf("working copies are left: %v", left)
	}
}

// TestDirsOfAnyName: the name of the root means nothing to anybody, not to
// the address of the state either.
func TestDirsOfAnyName(t *testing.T) {
	t.Parallel()
	long(t)
	for _, name := range []string{"a space", "100%", "per%20cent", "sharp#", "what?", "[x]*"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			e.root = filepath.Join(e.root, name)
			e.write("config/pulumi/environment", "PULUMI_STACK=dev\n")
			if got := results(e.simulate(0, "up", "-p", "kind", "--only", few)); got.Succeeded != 3 {
				t.Errorf("up: %+v", got)
			}
			if r := e.run("status", "--simulate"); !strings.Contains(r.stdout, "3 of 14 projects deployed") {
				t.Errorf("status: %s%s", r.stdout, r.stderr)
			}
			if names := changed(e.simulate(0, "up", "--only", few)); len(names) > 0 {
				t.Errorf("a second up changed %v", names)
			}
		})
	}
}
