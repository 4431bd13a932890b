package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// holding is a project's hook that waits, where there is a file "hold", until there is a file "go". It fails where there is
// a file "broken".
const holding = `#!/bin/sh
cd ..
if [ -e hold ]; then
	touch begun
	until [ -e go ]; do sleep 0.05; done
fi
[ ! -e broken ]
`

// reliable returns an environment of four projects: b reads a, c has a secret output, and d comes after b, before which a
// hook can wait.
func reliable(t *testing.T, at place) *environment {
	t.Helper()
	e := emptyEnvironment(t)
	e.real = true
	e.useStatesAt(at)
	e.write("config/pulumi/environment", "PULUMI_STACK=dev\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  a:size: \"1\"\n")
	e.writeReliable()
	return e
}

// writeReliable writes the projects of a reliable environment.
func (e *environment) writeReliable() {
	e.write("mara.yaml", `projects:
- {path: a, outputs: [size]}
- {path: b, reads: a, outputs: [size], hooks: [{name: hold, run: ./hold.sh, on: before, operations: [up, refresh, destroy]}]}
- {path: c, outputs: [text]}
- {path: d, after: [b]}
`)
	e.write("a/Pulumi.yaml", "name: a\nruntime: yaml\nconfig: {size: {type: integer}}\n"+
		"resources:\n  kept: {type: pulumi:index:Stash, properties: {input: \"${size}\"}}\noutputs: {size: \"${kept.output}\"}\n")
	e.write("b/Pulumi.yaml", "name: b\nruntime: yaml\nresources:\n  a: {type: pulumi:pulumi:StackReference, properties: {name: \"organization/a/${pulumi.stack}\"}}\n"+
		"  kept: {type: pulumi:index:Stash, properties: {input: \"${a.outputs[\\\"size\\\"]}\"}}\noutputs: {size: \"${kept.output}\"}\n")
	e.write("c/Pulumi.yaml", "name: c\nruntime: yaml\noutputs: {text: {\"fn::secret\": "+stateSecret+"}}\n")
	e.write("d/Pulumi.yaml", stash("d", ""))
	e.write("b/hold.sh", holding)
	if err := os.Chmod(filepath.Join(e.root, "b/hold.sh"), 0o755); err != nil {
		e.t.Fatal(err)
	}
}

// setToken gives c a secret value in its configuration.
func (e *environment) setToken(value string) {
	e.t.Helper()
	if program := e.read("c/Pulumi.yaml"); !strings.Contains(program, "config:") {
		e.write("c/Pulumi.yaml", program+"config: {token: {type: string, secret: true}}\n")
	}
	e.secrets(0, value, "set", "c:token", "-")
}

// remove deletes files of an environment.
func (e *environment) remove(names ...string) {
	e.t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(e.root, name)); err != nil && !os.IsNotExist(err) {
			e.t.Fatal(err)
		}
	}
}

// heldCommand is a command that waits in the hook of b.
type heldCommand struct {
	*exec.Cmd
	output *shared
}

// hold starts a command, and returns when it waits in the hook of b.
func (e *environment) hold(args ...string) heldCommand {
	e.t.Helper()
	e.remove("begun", "go")
	e.write("hold", "")
	command := heldCommand{e.command(args...), &shared{}}
	command.Stdout, command.Stderr = command.output, command.output
	if err := command.Start(); err != nil {
		e.t.Fatal(err)
	}
	waitFor(e.t, filepath.Join(e.root, "begun"))
	return command
}

// release lets the hook of b end, now and later, and returns the exit code of the command that waits in it.
func (e *environment) release(command heldCommand) int {
	e.remove("hold")
	e.write("go", "")
	_ = command.Wait()
	return command.ProcessState.ExitCode()
}

// The exit codes of disturbed commands.
var (
	killed      = []int{-1}
	interrupted = []int{130}
	anyEnd      = []int{0, 1, 3}
)

// disturbed returns a case in which an operation is disturbed while the hook of b waits. Then the operation is
// repeated with a flag, and with the commands that the runner names on the way.
func disturbed(operation, flag string, codes []int, strikes ...strike) func(t *testing.T, at place) {
	return func(t *testing.T, at place) {
		e := reliable(t, at)
		cancelled := len(strikes) > 1 // the hook is cancelled as well
		if operation != "up" {
			e.succeed("up", "--yes")
		}
		command := e.hold(operation, "--yes")
		for i, harm := range strikes {
			if i > 0 {
				time.Sleep(time.Second)
			}
			if !harm(e, chaosCase{}, trouble{}, command.Cmd) {
				break // it has ended already
			}
		}
		if cancelled {
			e.remove("hold")
		}
		if code := e.endOf(command, cancelled); !slices.Contains(codes, code) {
			t.Errorf("exit code %d, want %v\n%s", code, codes, command.output)
		}
		e.checkNoProcess()
		again := []string{operation, "--yes"}
		if flag == "" {
			e.followUntilDone(again)
		} else {
			e.carryOnUntil(again, succeeded)
		}
		e.checkReliable(operation)
	}
}

// endOf returns the exit code of a command that waits in a hook, or has been cancelled there.
func (e *environment) endOf(command heldCommand, cancelled bool) int {
	if !cancelled {
		return e.release(command)
	}
	_ = command.Wait()
	return command.ProcessState.ExitCode()
}

// followUntilDone repeats a command until it succeeds, and runs the commands that it names.
func (e *environment) followUntilDone(args []string) {
	e.t.Helper()
	last := result{}
	for range attempts {
		if last = e.run(args...); last.code == 0 {
			return
		}
		if !e.followHints(last) {
			break
		}
	}
	e.t.Fatalf("%v: exit code %d\n%s%s", args, last.code, lastLines(last.stdout), last.stderr)
}

// checkReliable checks that an environment is what an undisturbed operation leaves, and is not locked.
func (e *environment) checkReliable(operation string) {
	e.t.Helper()
	e.checkNoProcess()
	if text := e.succeed("unlock", "--yes"); !strings.Contains(text, "nothing is locked") {
		e.t.Errorf("locks are left: %s", text)
	}
	if operation == "destroy" {
		if text := e.succeed("status"); !strings.Contains(text, "0 of 4 projects deployed") {
			e.t.Errorf("something is left: %s", text)
		}
		return
	}
	if text := e.succeed("status"); !strings.Contains(text, "4 of 4 projects deployed") {
		e.t.Errorf("status: %s", text)
	}
	if text := e.succeed("outputs", "b", "size"); strings.TrimSpace(text) != "1" {
		e.t.Errorf("the output of b is %q", text)
	}
	e.succeed("preview", "--exit-code")
	e.succeed("history")
}

// testFailure: --failed and --resume do what is left after a failure.
func testFailure(t *testing.T, at place) {
	e := reliable(t, at)
	e.write("broken", "")
	e.said(1, "b", "up", "--yes")
	e.said(1, "b", "up", "--yes", "--failed")
	e.remove("broken")
	e.succeed("up", "--yes", "--resume")
	e.said(3, "nothing failed in the last up", "up", "--yes", "--failed")
	e.checkReliable("up")
}

// testSameMoment: of runs that begin at the same moment on two machines at most one works, and all do that wait.
func testSameMoment(t *testing.T, at place) {
	machines := []*environment{reliable(t, at), reliable(t, at), reliable(t, at)}
	both := func(args ...string) []result {
		results := make([]result, len(machines))
		var group sync.WaitGroup
		for i, e := range machines {
			group.Go(func() { results[i] = e.run(args...) })
		}
		group.Wait()
		return results
	}
	done := 0
	for _, r := range both("up", "--yes", "--force") {
		switch {
		case r.code == 0:
			done++
		case r.code != 4 || !strings.Contains(r.stderr, "locked by"):
			t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
	t.Logf("%d of %d worked", done, len(machines))
	for _, r := range both("up", "--yes", "--force", "--lock-timeout", "2m") {
		if r.code != 0 {
			t.Errorf("with --lock-timeout: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
	machines[0].checkReliable("up")
}

// disturbedOnADisk returns a case in which the disk with the runner's own files takes nothing any more.
func disturbedOnADisk(spoil func(e *environment, d disk)) func(t *testing.T, at place) {
	return func(t *testing.T, at place) {
		e := reliable(t, at)
		d := disk{dir: ".runner"}
		e.mountDisk(d)
		command := e.hold("up", "--yes")
		spoil(e, d)
		if code := e.release(command); !slices.Contains(anyEnd, code) || strings.Contains(command.output.String(), "panic:") {
			t.Errorf("exit code %d\n%s", code, command.output)
		}
		e.heal(d)
		e.carryOnUntil([]string{"up", "--yes"}, succeeded)
		e.checkReliable("up")
	}
}

// testWrongPassphrase: nothing is read or changed with a wrong passphrase.
func testWrongPassphrase(t *testing.T, at place) {
	e := reliable(t, at)
	e.succeed("up", "--yes")
	before := e.succeed("pulumi", "c", "--", "stack", "export")
	wrong := e.with("PULUMI_CONFIG_PASSPHRASE=not the passphrase")
	wrong.write("config/pulumi/Pulumi.dev.yaml", e.read("config/pulumi/Pulumi.dev.yaml")+"  c:more: \"1\"\n")
	for _, args := range [][]string{{"outputs", "c", "text", "--show-secrets"}, {"up", "--yes"}, {"refresh", "--yes"}, {"destroy", "--yes"}} {
		r := wrong.run(args...)
		if r.code != 3 || !strings.Contains(r.stderr, "passphrase") || strings.Contains(r.stdout+r.stderr, stateSecret) {
			t.Errorf("%v: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
	}
	if after := e.succeed("pulumi", "c", "--", "stack", "export"); after != before {
		t.Errorf("the state has changed from\n%s to\n%s", before, after)
	}
	if text := e.succeed("outputs", "c", "text", "--show-secrets"); strings.TrimSpace(text) != stateSecret {
		t.Errorf("the output is %q", text)
	}
	e.succeed("up", "--yes")
}

// testKilledChange kills a change of the passphrase behind the first of two states.
func testKilledChange(t *testing.T, at place) {
	const when = "behind import 1"
	projects := []string{"certmgr", "logstore"}
	e := newEnvironment(t, embedded)
	e.useStatesAt(at)
	e.encrypt(projects)
	e.killChange(when, projects, killedChanges()[when])
}

// testKilledMove kills moves of the states to files after ever longer times, completes one, and moves them back.
func testKilledMove(t *testing.T, at place) {
	e := reliable(t, at)
	e.succeed("up", "--yes")
	files := "file://" + t.TempDir()
	moved := e.with("PULUMI_BACKEND_URL=" + files)
	for pause := 200 * time.Millisecond; ; pause += 300 * time.Millisecond {
		command := e.command("state", "move", "--to", files, "--yes")
		var output bytes.Buffer
		command.Stdout, command.Stderr = &output, &output
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(pause, func() { killEverything(e, chaosCase{}, trouble{}, command) })
		_ = command.Wait()
		if !timer.Stop() {
			e.checkNoProcess()
			continue
		}
		if code := command.ProcessState.ExitCode(); code == 0 {
			break
		}
		if !e.followHints(result{stderr: output.String()}) {
			t.Fatalf("a move after killed ones: %s\n%s", command.ProcessState, output.String())
		}
	}
	moved.checkReliable("up")
	if text := e.succeed("stacks"); strings.Contains(text, "4 of 4") {
		t.Errorf("the states are still there: %s", text)
	}
	moved.succeed("state", "move", "--to", at.backend, "--yes")
	e.checkReliable("up")
}

// testLooks: commands that look at an environment, and `secrets set`, neither wait for its up nor disturb it.
func testLooks(t *testing.T, at place) {
	e := reliable(t, at)
	e.setToken("the first one")
	e.succeed("up", "--yes")
	command := e.hold("up", "--yes")
	for _, args := range [][]string{
		{"status"}, {"stacks"}, {"history"}, {"outputs", "b"}, {"query", "types"}, {"pulumi", "a", "--", "stack", "export"},
		{"pulumi", "b", "--", "stack", "export"}, {"pulumi", "c", "--", "stack", "ls"},
	} {
		e.succeed(args...)
	}
	e.said(3, "the environment is locked by", "doctor")
	e.setToken(fileSecret)
	if code := e.release(command); code != 0 {
		t.Errorf("the up: exit code %d\n%s", code, command.output)
	}
	if strings.Contains(command.output.String(), fileSecret) {
		t.Error("the up says the secret")
	}
	e.succeed("up", "--yes")
	e.checkReliable("up")
}

// testRefusedDestroys: a destroy with a flag of another command, or of a protected environment, deletes nothing.
func testRefusedDestroys(t *testing.T, at place) {
	e := reliable(t, at)
	e.succeed("up", "--yes")
	e.said(2, "version", "destroy", "--yes", "--version")
	e.write("config/pulumi/Pulumi.dev.yaml", e.read("config/pulumi/Pulumi.dev.yaml")+"  runner:protect: true\n")
	e.said(3, "protects this environment", "destroy", "--yes")
	e.said(3, "protects this environment", "fleet", "destroy", "dev", "--yes")
	e.checkReliable("up")
}

// testReapElsewhere: environments that are past their time are destroyed, and no others.
func testReapElsewhere(t *testing.T, at place) {
	e := reliable(t, at)
	for name, ttl := range map[string]string{"old": "1ms", "young": "8h"} {
		e.write("config/pulumi/Pulumi."+name+".yaml", "config:\n  a:size: \"1\"\n  runner:ttl: "+ttl+"\n")
		e.succeed("up", "-s", name, "--yes")
	}
	e.said(2, "fleet reap needs confirmation", "fleet", "reap")
	e.said(0, "1 succeeded", "fleet", "reap", "--yes")
	e.said(0, "0 of 4 projects deployed", "status", "-s", "old")
	e.said(0, "4 of 4 projects deployed", "status", "-s", "young")
}

// disturbedRollout returns a case in which a rollout of six environments in three waves is disturbed in its second wave.
func disturbedRollout(harm strike, codes []int) func(t *testing.T, at place) {
	return func(t *testing.T, at place) {
		e := emptyEnvironment(t)
		e.real = true
		e.useStatesAt(at)
		e.writeReliable()
		var waves strings.Builder
		for _, wave := range []string{"one", "two", "three"} {
			fmt.Fprintf(&waves, "- {name: %s, match: {wave: %[1]s}}\n", wave)
			for _, region := range []string{"eu", "us"} {
				e.write("config/environments/"+wave+"-"+region+".yaml", "values: {runner: {labels: {wave: "+wave+"}}, pulumiConfig: {\"a:size\": 1}}\n")
			}
		}
		e.write("config/rollout.yaml", "waves:\n"+waves.String())
		e.succeed("fleet", "up", "-l", "wave=one", "--yes")
		command := e.hold("fleet", "up", "--all", "--yes")
		harm(e, chaosCase{}, trouble{}, command.Cmd)
		if code := e.release(command); !slices.Contains(codes, code) {
			t.Errorf("exit code %d, want %v\n%s", code, codes, command.output)
		}
		e.checkNoProcess()
		e.succeed("fleet", "up", "--resume", "--yes")
		e.said(0, "6 environments: 6 up to date", "fleet", "status")
		e.said(0, "none of 6 environments is affected", "fleet", "plan", "--affected")
		for _, name := range []string{"one-eu", "two-us", "three-us"} {
			e.said(0, "nothing is locked", "unlock", "-s", name, "--yes")
		}
	}
}

// testBackendGoesAway: a run whose backend goes away says so, and ends. When the backend is back, --resume continues.
func testBackendGoesAway(t *testing.T, at place) {
	if !strings.HasPrefix(at.backend, "file:") {
		at = at.through(t)
	} else {
		t.Skip("files do not go away; a full and a read-only disk are other cases")
	}
	e := reliable(t, at)
	command := e.hold("up", "--yes")
	at.passage.set(true)
	if code := e.release(command); code != 1 || strings.Contains(command.output.String(), "needle") {
		t.Errorf("exit code %d, want 1\n%s", code, command.output)
	}
	e.checkNoProcess()
	at.passage.set(false)
	e.carryOnUntil([]string{"up", "--yes"}, succeeded)
	e.checkReliable("up")
}

// testManyStacks: a backend that has more stacks than it lists at once is listed as a whole.
func testManyStacks(t *testing.T, at place) {
	const many = 1100
	e := reliable(t, at)
	e.succeed("up", "--yes")
	var names []string
	for i := range many {
		names = append(names, fmt.Sprintf("many%04d", i))
	}
	at.multiply("a", "dev", names)
	var listed []struct{ Stack string }
	if err := json.Unmarshal([]byte(e.succeed("stacks", "-o", "json")), &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed) < many {
		t.Errorf("%d of %d stacks are listed", len(listed), many)
	}
	e.checkReliable("up")
}
