package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/lock"
)

// newFleet creates a root with environments in three waves, of two projects each: a
// test, a canary and two of production.
func newFleet(t *testing.T) *environment {
	t.Helper()
	e := emptyEnvironment(t)
	e.write("config/layers/base.yaml", `values:
  runner:
    provider: kind
    projects: {skip: [kubeconfig, secrets, kic-image-build, kic-image-push, ingress-controller-namespace, ingress-controller, logstore,
      logagent, certmgr, prometheus, observability, bank-of-anthos]}
`)
	e.layer("prod", 1)
	for name, text := range map[string]string{
		"test":   "imports: [base]\nvalues: {runner: {labels: {stage: test}}}\n",
		"canary": "imports: [base, prod]\nvalues: {runner: {labels: {stage: canary}}}\n",
		"eu-1":   "imports: [base, prod]\nvalues: {runner: {labels: {stage: prod}}}\n",
		"eu-2":   "imports: [base, prod]\nvalues: {runner: {labels: {stage: prod}}}\n",
	} {
		e.write("config/environments/"+name+".yaml", text)
	}
	e.write("config/rollout.yaml", `waves:
  - {name: test, match: {stage: test}}
  - {name: canary, match: {stage: canary}, gates: [drift, {run: "echo gate of $MARA_ENVIRONMENTS >> gates", simulate: true}]}
  - {name: prod, match: {stage: prod}, parallel: 1}
`)
	return e
}

// layer writes a layer of production whose value is a number.
func (e *environment) layer(name string, workers int) {
	e.write("config/layers/"+name+".yaml", fmt.Sprintf("values: {pulumiConfig: {\"kind:workers\": %d}}\n", workers))
}

// fleet runs an operation on a fleet.
func (e *environment) fleet(want int, args ...string) []event.Event {
	e.t.Helper()
	all := append([]string{"fleet"}, args...)
	all = append(all, "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json")
	r := e.run(all...)
	if r.code != want {
		e.t.Fatalf("%s: exit code %d, want %d\n%s%s", strings.Join(all, " "), r.code, want, lastLines(r.stdout), r.stderr)
	}
	return decode(e.t, r.stdout)
}

// order lists the steps as they have ended.
func order(events []event.Event) []string {
	var names []string
	for _, e := range events {
		if e.Type == event.StepFinished {
			names = append(names, e.Project+" "+string(e.Result))
		}
	}
	return names
}

func TestFleetRollsOutInWaves(t *testing.T) {
	t.Parallel()
	e := newFleet(t)
	events := e.fleet(0, "up", "--all")
	want := []string{"test succeeded", "wave:test skipped", "canary succeeded", "wave:canary succeeded", "eu-1 succeeded", "eu-2 succeeded"}
	if got := order(events); !slices.Equal(got, want) {
		t.Errorf("order %q", got)
	}
	if !events[0].Fleet || finished(events)["eu-1"].Changes.Create == 0 {
		t.Errorf("began with %+v", events[0])
	}
	gates, _ := os.ReadFile(filepath.Join(e.root, "gates"))
	if string(gates) != "gate of canary\n" {
		t.Errorf("gates: %q", gates)
	}
	for name, step := range finished(events) {
		page := filepath.Join(e.root, ".runner/simulated/runs", step.Ran, "report.html")
		if _, err := os.Stat(page); !strings.HasPrefix(name, event.WavePrefix) && (step.Ran == "" || err != nil) {
			t.Errorf("%s: run %q has no page: %v", name, step.Ran, err)
		}
	}
	pages, _ := filepath.Glob(filepath.Join(e.root, ".runner/simulated/rollouts/*/report.html"))
	if len(pages) != 1 {
		t.Fatalf("overviews: %v", pages)
	}
	if page, _ := os.ReadFile(pages[0]); !strings.Contains(string(page), "../../runs/"+finished(events)["eu-2"].Ran+"/report.html") {
		t.Error("the overview does not link to the page of an environment")
	}

	if got := finished(e.fleet(0, "up", "--affected")); len(got) > 0 {
		t.Errorf("nothing has changed, but it runs %v", got)
	}
	e.layer("prod", 2)
	if r := e.run("fleet", "plan", "--affected", "--why", "--simulate"); r.code != 0 || strings.Contains(r.stdout, "  test") ||
		!strings.Contains(r.stdout, "  canary: kind:workers") {
		t.Errorf("plan: %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r := e.run("fleet", "up", "eu-1", "--simulate", "--yes")
	if r.code != 3 || !strings.Contains(r.stderr, "config/rollout.yaml:3: canary comes before, and canary has changed since it was") {
		t.Errorf("promotion: %d\n%s", r.code, r.stderr)
	}
	want = []string{"canary succeeded", "wave:canary succeeded", "eu-1 succeeded", "eu-2 succeeded"}
	got := order(e.fleet(0, "up", "--affected", "--allow", "cluster"))
	slices.Sort(got[min(2, len(got)):]) // what took longest the last time goes first
	if !slices.Equal(got, want) {
		t.Errorf("affected: %q", got)
	}
	if r := e.run("fleet", "status", "--simulate"); !strings.Contains(r.stdout, "4 environments: 4 up to date") {
		t.Errorf("status: %s%s", r.stdout, r.stderr)
	}
	want = []string{"eu-2 succeeded", "eu-1 succeeded", "wave:canary skipped", "canary succeeded", "wave:test skipped", "test succeeded"}
	got = order(e.fleet(0, "destroy", "--all"))
	slices.SortFunc(got[:min(2, len(got))], func(a, b string) int { return strings.Compare(b, a) })
	if !slices.Equal(got, want) {
		t.Errorf("destroy: %q", got)
	}
}

// TestFleetAffectedSinceACommit: what differs from a commit of git, whatever has
// been rolled out.
func TestFleetAffectedSinceACommit(t *testing.T) {
	t.Parallel()
	e := newFleet(t)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "-qm", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = e.root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	plan := func(ref string) string {
		r := e.run("fleet", "plan", "--affected="+ref, "--why", "--simulate")
		return fmt.Sprint(r.code, " ", r.stdout, r.stderr)
	}
	if got := plan("HEAD"); got != "0 none of 4 environments is affected\n" {
		t.Errorf("nothing has changed: %s", got)
	}
	e.write("config/environments/eu-2.yaml", "imports: [base, prod]\nvalues: {runner: {labels: {stage: prod}}, pulumiConfig: {\"kind:workers\": 3}}\n")
	e.write("config/environments/eu-3.yaml", "imports: [base]\nvalues: {runner: {labels: {stage: prod}}}\n")
	want := "0 Wave prod: 2 environments, after canary, 1 at once\n  eu-2: kind:workers\n  eu-3: did not exist at HEAD\n"
	if got := plan("HEAD"); got != want {
		t.Errorf("got %s", got)
	}
	if got := plan("nowhere"); !strings.HasPrefix(got, "2 error: --affected=nowhere: ") {
		t.Errorf("got %s", got)
	}
}

// TestFleetWithBackendsOfTheirOwn brings up environments for real, of a project
// without resources, each with a backend of its own.
func TestFleetWithBackendsOfTheirOwn(t *testing.T) {
	t.Parallel()
	e := emptyEnvironment(t)
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=swordfish")
	program := "name: a\nruntime: yaml\nconfig: {size: {type: string}}\noutputs: {where: \"${pulumi.stack}-${size}\"}\n"
	e.write("a/Pulumi.yaml", program)
	e.write("mara.yaml", "projects: [{path: a, outputs: [where]}]\n")
	e.write("config/layers/base.yaml", "values: {pulumiConfig: {\"a:size\": small}}\n")
	for _, name := range []string{"one", "two"} {
		e.write("states/"+name+"/.keep", "")
		e.write("config/environments/"+name+".yaml", "imports: [base]\nvalues: {runner: {backend: \"file://./states/"+name+"\"}}\n")
	}
	said := func(want string, args ...string) {
		t.Helper()
		if r := e.run(args...); r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("%v: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
	}
	said("2 succeeded", "fleet", "up", "--all", "--yes")
	for _, name := range []string{"one", "two"} {
		if states, _ := filepath.Glob(filepath.Join(e.root, "states", name, ".pulumi/stacks/a/*.json")); len(states) != 1 {
			t.Errorf("states of %s: %v", name, states)
		}
	}
	said("one-small", "fleet", "get", "a/where")
	said("a/where  one-small  two-small", "config", "diff", "one", "two")
	said("one    deployed", "stacks")
	said("2 unchanged", "fleet", "up", "--all", "--yes")
	e.write("a/Pulumi.yaml", strings.Replace(program, "}-$", "}-v2-$", 1))
	said("  two: program of a", "fleet", "plan", "--affected", "--why")
	said("2 deleted", "fleet", "destroy", "--all", "--yes")
}

// TestFleetFails: a failing wave stops the rollout, and --resume continues to
// the end of an undisturbed one.
func TestFleetFails(t *testing.T) {
	t.Parallel()
	e := newFleet(t)
	e.fleet(0, "up", "test")
	events := e.fleet(1, "up", "--all", "--simulate-fail", "kind:index:Registry=no room")
	got := finished(events)
	if got["canary"].Result != event.Failed || !strings.Contains(got["canary"].Error, "no room") || got["eu-1"].Result != event.Skipped {
		t.Errorf("ended with %q, canary: %s", order(events), got["canary"].Error)
	}
	for range 2 { // the drift that the gate has found before is no reason to let the wave pass
		drifted := finished(e.fleet(1, "up", "--resume", "--simulate-fail", "kind:index:Cluster=read:gone"))
		if gate := drifted["wave:canary"]; gate.Result != event.Failed || !strings.Contains(gate.Error, "gate drift: canary: ") || drifted["eu-1"].Result != event.Skipped {
			t.Errorf("after the gate: %s, %s", gate.Result, gate.Error)
		}
	}
	want := []string{"wave:canary succeeded", "eu-1 succeeded", "eu-2 succeeded"}
	resumed := order(e.fleet(0, "up", "--resume"))
	slices.Sort(resumed[min(1, len(resumed)):])
	if !slices.Equal(resumed, want) {
		t.Errorf("resumed: %q", resumed)
	}
	e.checkFleet()
}

// checkFleet holds that every environment is what it is configured to be.
func (e *environment) checkFleet() {
	e.t.Helper()
	if r := e.run("fleet", "status", "--simulate"); !strings.Contains(r.stdout, "4 environments: 4 up to date") {
		e.t.Errorf("status: %s%s", r.stdout, r.stderr)
	}
	for name, step := range finished(e.fleet(0, "up", "--all")) {
		if step.Changes.Any() {
			e.t.Errorf("another up changes %s: %s", name, step.Changes)
		}
	}
}

// TestFleetIsCutOff disturbs a rollout in its second wave, and resumes it.
func TestFleetIsCutOff(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{{"Ctrl-C", syscall.SIGINT, 130}, {"SIGTERM", syscall.SIGTERM, 130}, {"kill -9", syscall.SIGKILL, -1}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newFleet(t)
			cmd := e.command("fleet", "up", "--all", "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json", "--simulate-slow", "kind:index:Cluster=2s")
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			sent := false
			for lines := bufio.NewScanner(stdout); lines.Scan(); {
				text := lines.Text()
				if !sent && strings.Contains(text, `"step.progress"`) && strings.Contains(text, `"project":"canary"`) {
					sent = true
					if err := cmd.Process.Signal(test.signal); err != nil {
						t.Fatal(err)
					}
				}
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != test.code || !sent {
				t.Errorf("exit code %d, want %d; sent: %v", code, test.code, sent)
			}
			got := finished(e.fleet(0, "up", "--resume"))
			if _, again := got["test"]; again || got["eu-2"].Result != event.Succeeded {
				t.Errorf("resumed: %v", got)
			}
			e.checkFleet()
		})
	}
}

// TestFleetRepairsSidecars: what a kill has cut off beside a state stops no rollout.
func TestFleetRepairsSidecars(t *testing.T) {
	t.Parallel()
	e := newFleet(t)
	e.fleet(0, "up", "test")
	e.write(".runner/simulated/state/.pulumi/stacks/kind-cluster/test.json.attrs", "")
	if got := finished(e.fleet(0, "up", "test", "--force")); got["test"].Result != event.Succeeded {
		t.Errorf("ended with %v", got)
	}
}

// TestFleetIsKilled: the third Ctrl-C ends a rollout whose engines no longer hear the
// second, and the commands that it names repair what it leaves.
func TestFleetIsKilled(t *testing.T) {
	t.Parallel()
	long(t)
	e := newFleet(t)
	e.fleet(0, "up", "test")
	cmd := e.command("fleet", "up", "--all", "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json", "--simulate-slow", "kind:index:Cluster=10m")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e.awaitPending("kind-cluster", "canary", "kind:index:Cluster")
	for _, child := range childrenOf(t, cmd) {
		if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	interrupt := func() time.Time {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		return time.Now()
	}
	reported, killed := 0, time.Time{}
	interrupt()
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if !strings.Contains(lines.Text(), `"run.stopping"`) {
			continue
		}
		if reported++; reported == 1 {
			interrupt()
			continue
		}
		time.Sleep(time.Second)
		if !lock.IsAlive(cmd.Process.Pid) {
			t.Error("the second one has ended it")
		}
		killed = interrupt()
	}
	_ = cmd.Wait()
	if code, took := cmd.ProcessState.ExitCode(), time.Since(killed); code != 130 || reported != 2 || took > 30*time.Second {
		t.Errorf("exit code %d, reported %d times, ended %s after the third", code, reported, took)
	}
	e.checkNothingIsLeft()
	e.carryOnRollout()
	e.checkFleet()
}

// TestFleetGateAsks: a gate's question is asked on a terminal, and is a clear error
// without one.
func TestFleetGateAsks(t *testing.T) {
	t.Parallel()
	e := newFleet(t)
	e.write("config/rollout.yaml", `waves:
  - {name: test, match: {stage: test}, gates: [{ask: "Go on to all of production?"}]}
  - {name: prod, match: "stage!=test"}
`)
	up := []string{"fleet", "up", "test", "eu-1", "--out-of-order", "--simulate", "--simulate-speed", "100000"}
	for _, report := range []struct {
		name  string
		wants []string
	}{
		{"rollout.xml", []string{"<testsuite", `name="test`, `name="eu-1`, "this is not a terminal"}},
		{"rollout.html", []string{"<html", "eu-1", "this is not a terminal"}},
	} {
		r := e.run(append(up, "--report", report.name)...)
		if r.code != 1 || !strings.Contains(r.stdout+r.stderr, "this is not a terminal; resume with --resume on a terminal, or with --resume --yes") {
			t.Errorf("in a pipe: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		content, _ := os.ReadFile(filepath.Join(e.root, report.name))
		for _, want := range report.wants {
			if !strings.Contains(string(content), want) {
				t.Errorf("%s has no %s", report.name, want)
			}
		}
	}
	s := e.sit(append([]string{"fleet", "up", "--resume"}, up[5:]...)...)
	s.answer(typed("up all of them?", "y"), typed("Go on to all of production?", "n"))
	if screen := s.end(1); !strings.Contains(screen, "not confirmed after wave test") {
		t.Errorf("a no:\n%s", screen)
	}
	s = e.sit(append([]string{"fleet", "up", "--resume"}, up[5:]...)...)
	s.answer(typed("up all of them?", "y"), typed("Go on to all of production?", "y"))
	if screen := s.end(0); !strings.Contains(screen, "eu-1") || !strings.Contains(screen, "up succeeded") {
		t.Errorf("a yes:\n%s", screen)
	}
}

// TestFleetSharesBackend: two directories that share a backend never work on one
// environment at once, and each knows what the other has rolled out.
func TestFleetSharesBackend(t *testing.T) {
	t.Parallel()
	testFleetSharesBackend(t, inDirectory(t))
}

func testFleetSharesBackend(t *testing.T, at place) {
	newDir := func() *environment {
		e := newEnvironment(t, embedded)
		e.useStatesAt(at)
		e.write("config/pulumi/environment", "")
		e.write("a/Pulumi.yaml", "name: a\nruntime: yaml\nconfig: {size: {type: string, default: small}}\noutputs: {text: hello}\n")
		e.write("a/hold.sh", "#!/bin/sh\ntouch ../begun\nuntil [ -e ../go ]; do sleep 0.05; done\n")
		if err := os.Chmod(filepath.Join(e.root, "a/hold.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
		e.write("mara.yaml", "projects:\n- {path: a, hooks: [{name: hold, run: ./hold.sh, on: before}]}\n")
		for _, name := range []string{"first", "second"} {
			e.write("config/environments/"+name+".yaml", "values: {runner: {labels: {wave: "+name+"}}}\n")
		}
		e.write("config/rollout.yaml", "waves:\n- {name: first, match: {wave: first}}\n- {name: second, match: {wave: second}}\n")
		return e
	}
	one, two := newDir(), newDir()
	two.write("go", "")
	said := func(e *environment, want int, text string, args ...string) {
		t.Helper()
		if r := e.run(args...); r.code != want || !strings.Contains(r.stdout+r.stderr, text) {
			t.Errorf("%v: exit code %d, want %d and %q\n%s%s", args, r.code, want, text, r.stdout, r.stderr)
		}
	}
	said(two, 3, "first comes before, and first has never been rolled out", "fleet", "up", "second", "--yes")
	running := one.command("fleet", "up", "first", "--yes")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	one.await("begun")
	said(two, 4, "the environment is locked by", "fleet", "up", "first", "--yes")
	if states := one.objects("", "list", at.backend, ".pulumi/stacks"); states != "{}" {
		t.Errorf("there are states although the first hook has not ended: %s", states)
	}
	one.write("go", "")
	if err := running.Wait(); err != nil {
		t.Errorf("the first rollout: %v", err)
	}

	said(two, 0, "2 environments: 1 never rolled out, 1 up to date", "fleet", "status")
	said(two, 0, "none of 2 environments is affected", "fleet", "plan", "--affected", "--why", "first")
	said(two, 0, "1 succeeded", "fleet", "up", "second", "--yes")
	said(one, 0, "2 environments: 2 up to date", "fleet", "status")
	one.write("config/environments/first.yaml", "values: {runner: {labels: {wave: first}}, pulumiConfig: {\"a:size\": large}}\n")
	said(one, 3, "first comes before, and first has changed since it was", "fleet", "up", "second", "--yes")
	said(two, 0, "1 succeeded", "fleet", "destroy", "first", "--yes")
	said(one, 0, "2 environments: 1 destroyed, 1 up to date", "fleet", "status")
}

// await waits for a file.
func (e *environment) await(name string) {
	e.t.Helper()
	for range 1200 {
		if _, err := os.Stat(filepath.Join(e.root, name)); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	e.t.Fatalf("%s does not come", name)
}

// newOwnFleet creates a root with own projects, a and b after it, in two environments of a first wave and one of a second,
// in two regions. While there is a file "broken", b fails.
func newOwnFleet(t *testing.T, at place) *environment {
	t.Helper()
	e := emptyEnvironment(t)
	e.useStatesAt(at)
	e.version("one")
	e.write("b/Pulumi.yaml", "name: b\nruntime: yaml\noutputs: {value: b}\n")
	e.write("mara.yaml", `projects:
- {path: a, outputs: [value], hooks: [{name: hold, run: [sh, -c, "touch ../held; sleep 8"], on: before, operations: [destroy]}]}
- {path: b, outputs: [value], after: [a], hooks: [{name: check, run: [test, "!", -e, ../broken], on: before, operations: [up]}]}
`)
	for _, name := range []string{"test-eu", "test-us", "prod-eu"} {
		stage, region, _ := strings.Cut(name, "-")
		e.write("config/environments/"+name+".yaml", fmt.Sprintf("values: {runner: {labels: {stage: %s, region: %s}}}\n", stage, region))
	}
	e.write("config/rollout.yaml", "promotion: {by: region}\nwaves:\n- {name: test, match: {stage: test}, maxFailures: 50%}\n- {name: prod, match: {stage: prod}}\n")
	return e
}

// version writes the program of a.
func (e *environment) version(value string) {
	e.write("a/Pulumi.yaml", "name: a\nruntime: yaml\noutputs: {value: "+value+"}\n")
}

// said runs a command, and checks its exit code and a part of what it prints.
func (e *environment) said(want int, text string, args ...string) {
	e.t.Helper()
	if r := e.run(args...); r.code != want || !strings.Contains(strings.Join(strings.Fields(r.stdout+r.stderr), " "), text) {
		e.t.Errorf("%v: exit code %d, want %d and %q\n%s%s", args, r.code, want, text, r.stdout, r.stderr)
	}
}

// TestFleetTellsWhatRan: the record of an environment is what ran there, for each project, with its outcome.
func TestFleetTellsWhatRan(t *testing.T) {
	t.Parallel()
	long(t)
	testFleetTellsWhatRan(t, inDirectory(t))
}

func testFleetTellsWhatRan(t *testing.T, at place) {
	e := newOwnFleet(t, at)
	remove := func(name string) {
		if err := os.Remove(filepath.Join(e.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	e.said(0, "3 succeeded", "fleet", "up", "--all", "--yes")
	e.said(0, "3 environments: 3 up to date", "fleet", "status")

	e.version("two")
	e.write("broken", "")
	e.said(1, "", "fleet", "up", "test-eu", "--yes")
	e.said(0, "1 of 2 projects done, 1 failed (b)", "fleet", "status", "test-eu")
	e.said(0, "program of a", "fleet", "status", "test-us")
	e.said(3, "test comes before, and test-eu: did not succeed: b (up, ", "fleet", "up", "prod-eu", "--yes")

	e.said(1, "", "fleet", "up", "--all", "--yes", "--on-error", "continue")
	remove("broken")
	e.version("three") // between the failure and the resume
	e.said(0, "succeeded", "fleet", "up", "--resume", "--yes")
	e.said(0, "three 3 ", "fleet", "get", "a/value")
	e.said(0, "3 environments: 3 up to date", "fleet", "status")
	e.said(0, "none of 3 environments is affected", "fleet", "plan", "--affected")

	e.version("four")
	e.said(3, "test-eu has changed since it was rolled out", "fleet", "up", "prod-eu", "--yes")
	e.said(0, "1 succeeded", "fleet", "up", "test-eu", "--yes")
	e.said(0, "1 succeeded", "fleet", "up", "prod-eu", "--yes") // test-us is of another region

	e.said(0, "", "destroy", "-s", "prod-eu", "--only", "b", "--yes")
	e.said(0, "prod-eu partly", "fleet", "status", "prod-eu")
	e.said(0, "never rolled out: b", "fleet", "status", "prod-eu", "--why")
	destroy := e.command("destroy", "-s", "prod-eu", "--yes")
	if err := destroy.Start(); err != nil {
		t.Fatal(err)
	}
	e.await("held")
	e.said(0, "prod-eu running", "fleet", "status", "prod-eu")
	e.said(0, "destroy prod-eu running", "history", "-s", "prod-eu", "--limit", "1")
	_ = destroy.Process.Kill()
	_ = destroy.Wait()
	e.said(0, "destroy prod-eu cut off", "history", "-s", "prod-eu", "--limit", "1")
	e.said(0, "prod-eu unfinished", "fleet", "status", "prod-eu")
	e.said(0, "destroy was cut off ", "fleet", "status", "prod-eu", "--why")
	e.said(0, "prod-eu: destroy in run ", "fleet", "plan", "--affected", "--why")
}

// TestFleetRecordsEachCommit: a commit that is made while a rollout goes on is recorded of the environments that begin
// after it, and of no others.
func TestFleetRecordsEachCommit(t *testing.T) {
	t.Parallel()
	e := newOwnFleet(t, inDirectory(t))
	const commit = "git -c user.name=me -c user.email=me@example.com commit -qm"
	e.write("config/rollout.yaml", "waves:\n- {name: test, match: {stage: test}, gates: [{run: '"+commit+" second --allow-empty'}]}\n- {name: prod, match: {stage: prod}}\n")
	e.write(".gitignore", ".runner\n")
	git := func(script string) string {
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = e.root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("git init -q && git add . && " + commit + " first")
	first := git("git rev-parse --short=12 HEAD")
	e.said(0, "3 succeeded", "fleet", "up", "--all", "--yes")
	second := git("git rev-parse --short=12 HEAD")
	e.said(0, "test ✓ test-eu up to date ", "fleet", "status")
	e.said(0, first, "fleet", "status", "test-eu")
	e.said(0, second, "fleet", "status", "prod-eu")
}
