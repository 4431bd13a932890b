package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestUnlockAndRepair kills the runner and Pulumi while they create something.
func TestUnlockAndRepair(t *testing.T) {
	t.Parallel()
	long(t)
	eachEngine(t, []string{embedded, stock}, func(t *testing.T, e *environment) {
		e.simulate(0, "up", "-p", "kind", "--only", "+certmgr")
		issuer := e.record("cert-manager.io.v1.ClusterIssuer/mara.json")
		e.simulate(0, "destroy", "--only", "certmgr+")
		e.crash()

		e.refused(4, "up", "certmgr is locked by", "which is gone", "runner unlock -s dev --simulate")
		e.refused(2, "unlock", "certmgr is locked by", "--yes")
		if r := e.run("unlock", "--simulate", "--yes"); r.code != 0 || !strings.Contains(r.stdout, "unlocked certmgr") {
			t.Fatalf("unlock: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		if r := e.run("unlock", "--simulate", "--yes"); r.code != 0 || r.stdout != "nothing is locked\n" {
			t.Errorf("unlock of nothing: exit code %d, %q", r.code, r.stdout)
		}
		e.refused(3, "up", "certmgr: kubernetes:cert-manager.io/v1:ClusterIssuer mara (creating)", "runner repair -s dev --simulate")

		// It was created after all, but no state has it.
		if err := os.WriteFile(issuer.path, issuer.content, 0o600); err != nil {
			t.Fatal(err)
		}
		e.refused(2, "repair", "mara (creating) exists in the cloud, and is imported as mara", "--yes")
		e.simulate(0, "repair")
		if saved, _ := filepath.Glob(filepath.Join(e.root, ".runner/simulated/backups/*/certmgr.json")); len(saved) != 1 {
			t.Errorf("the state was not saved: %v", saved)
		}
		if r := e.run("repair", "--simulate", "--yes"); r.code != 0 || !strings.HasPrefix(r.stdout, "nothing to repair") {
			t.Errorf("repair of nothing: exit code %d, %q", r.code, r.stdout)
		}
		events := e.simulate(0, "up", "--only", "+certmgr")
		if c := finished(events)["certmgr"].Changes; c.Create != 0 {
			t.Errorf("what was imported is created again: %s", c)
		}
		e.checkNoLocks()
	})
}

// TestRepairForgets forgets what was never created.
func TestRepairForgets(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, embedded)
	e.simulate(0, "up", "-p", "kind", "--only", "+kubeconfig")
	e.crash()
	if r := e.run("unlock", "--simulate", "--yes"); r.code != 0 {
		t.Fatalf("unlock: exit code %d: %s", r.code, r.stderr)
	}
	e.refused(2, "repair", "(creating) does not exist in the cloud, and is forgotten", "--yes")
	e.simulate(0, "repair")
	if got := results(e.simulate(0, "up", "--only", "+certmgr", "--resume")); got.Failed+got.Cancelled > 0 {
		t.Errorf("resuming: %+v", got)
	}

	// --resume asks the cloud itself, and imports what was created after all.
	issuer := e.record("cert-manager.io.v1.ClusterIssuer/mara.json")
	e.simulate(0, "destroy", "--only", "certmgr+")
	e.crash()
	if err := os.WriteFile(issuer.path, issuer.content, 0o600); err != nil {
		t.Fatal(err)
	}
	resumed := e.simulate(0, "up", "--resume")
	if got := results(resumed); got.Failed+got.Cancelled > 0 {
		t.Errorf("resumed with what exists: %+v", got)
	}
	if r := e.run("show", "--simulate"); !strings.Contains(r.stdout, "exists as mara, and is imported") {
		t.Errorf("the import is not reported: %s", r.stdout)
	}
	e.simulate(0, "destroy", "--only", "certmgr+")
	e.crash()
	if got := results(e.simulate(0, "up", "--resume")); got.Failed+got.Cancelled > 0 {
		t.Errorf("resumed without it: %+v", got)
	}
}

// refused runs a command that must refuse to work.
func (e *environment) refused(code int, command string, wants ...string) {
	e.t.Helper()
	r := e.run(command, "--simulate")
	if r.code != code || strings.Contains(r.stdout, "started") {
		e.t.Errorf("%s: exit code %d, want %d\n%s", command, r.code, code, r.stdout)
	}
	for _, want := range wants {
		if !strings.Contains(r.stderr, want) {
			e.t.Errorf("%s does not say %q: %s", command, want, r.stderr)
		}
	}
}

// saved is a file as it was.
type saved struct {
	path    string
	content []byte
}

// record returns what the simulated clouds store about a resource.
func (e *environment) record(name string) saved {
	e.t.Helper()
	for _, file := range e.cloudRecords() {
		if strings.HasSuffix(file, name) {
			content, err := os.ReadFile(file)
			if err != nil {
				e.t.Fatal(err)
			}
			return saved{file, content}
		}
	}
	e.t.Fatalf("the simulated clouds have no %s", name)
	return saved{}
}

// crash deploys certmgr and kills the runner and all that it has started
// while the issuer is being created.
func (e *environment) crash() {
	e.t.Helper()
	const slow = "kubernetes:cert-manager.io/v1:ClusterIssuer"
	cmd := e.command("up", "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json", "-p", "kind",
		"--only", "+certmgr", "--simulate-slow", slow+"=60s")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && !strings.Contains(lines.Text(), `"`+slow+`"`) {
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	e.awaitPending("certmgr", "dev", slow)
	children := childrenOf(e.t, cmd)
	_ = cmd.Process.Kill()
	for _, child := range children {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	_ = cmd.Wait()
}

// awaitPending waits until the state says that a resource of a type is being created.
func (e *environment) awaitPending(project, stack, kind string) {
	e.t.Helper()
	file := filepath.Join(e.root, ".runner/simulated/state/.pulumi/stacks", project, stack+".json")
	for range 6000 {
		var state struct {
			Checkpoint struct {
				Latest struct {
					Pending []struct{ Resource struct{ Type string } } `json:"pending_operations"`
				}
			}
		}
		if content, err := os.ReadFile(file); err == nil && json.Unmarshal(content, &state) == nil {
			for _, pending := range state.Checkpoint.Latest.Pending {
				if pending.Resource.Type == kind {
					return
				}
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	e.t.Fatalf("no %s was ever being created", kind)
}

// childrenOf returns the processes that any thread of a command has started.
func childrenOf(t *testing.T, cmd *exec.Cmd) []int {
	t.Helper()
	lists, err := filepath.Glob("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/task/*/children")
	if err != nil || len(lists) == 0 {
		t.Skip("this system does not tell the children of a process")
	}
	var children []int
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// TestCutOffSidecar: a kill in the middle of saving can leave an empty file
// next to a state, over which the list of stacks stumbles. Commands that only look
// name the remedy, an operation applies it.
func TestCutOffSidecar(t *testing.T) {
	t.Parallel()
	eachEngine(t, []string{embedded}, func(t *testing.T, e *environment) {
		e.simulate(0, "up", "-p", "kind", "--only", "+kubeconfig")
		cutOff := func() (sidecar string) {
			sidecar = filepath.Join(e.root, ".runner/simulated/state/.pulumi/stacks/kind-cluster/dev.json.attrs")
			if err := os.WriteFile(sidecar, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return sidecar
		}
		sidecar := cutOff()
		r := e.run("status", "--simulate")
		if r.code != 3 || !strings.Contains(r.stderr, sidecar) || !strings.Contains(r.stderr, "runner repair -s dev --simulate") {
			t.Errorf("status: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		r = e.run("repair", "--simulate", "--yes")
		if r.code != 0 || !strings.Contains(r.stderr, sidecar+" is truncated") {
			t.Errorf("repair: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		cutOff()
		if got := results(e.simulate(0, "up", "--only", "+kubeconfig")); got.Failed > 0 {
			t.Errorf("up: %+v", got)
		}
		if r := e.run("status", "--simulate"); r.code != 0 {
			t.Errorf("status afterwards: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	})
}
