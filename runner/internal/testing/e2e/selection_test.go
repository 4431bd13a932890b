package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
)

// ran lists the projects of a run in their order.
func ran(events []event.Event) []string {
	var names []string
	for _, p := range events[0].Projects {
		names = append(names, p.Name)
	}
	return names
}

func TestSelection(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	events := e.simulate(0, "up", "-p", "kind", "--only", "+logstore")
	if diff := cmp.Diff([]string{"kind-cluster", "kubeconfig", "logstore"}, ran(events)); diff != "" {
		t.Error(diff)
	}
	for _, x := range events[0].Excluded {
		if x.Reason != "not in --only" {
			t.Errorf("%s is skipped because of %q", x.Name, x.Reason)
		}
	}
	if len(events[0].Excluded) != 11 {
		t.Errorf("%d projects are skipped, want 11", len(events[0].Excluded))
	}

	r := e.run("up", "--simulate", "--only", "log*")
	if r.code != 0 || !strings.Contains(r.stdout, "(not in --only)") {
		t.Errorf("a pattern: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, test := range []struct {
		name, args string
		code       int
		want       []string
	}{
		{"a dependency is missing", "up --only observability", 3, []string{"certmgr (needed by observability)", "+NAME"}},
		{"the same in a preview", "preview --only Observability", 3, []string{"certmgr (needed by observability)"}},
		{"what needs it is deployed", "destroy --yes --only kubeconfig", 3, []string{"logstore (needs kubeconfig)", "logagent (needs kubeconfig)", "NAME+"}},
		{"no such project", "up --only logstoer", 2, []string{`did you mean "logstore"?`}},
		{"nothing is left", "up --skip *", 2, []string{"skips every project"}},
		{"no such project has a timeout", "up --timeout logstoer=1m", 2, []string{"--timeout", `did you mean "logstore"?`}},
		{"two kinds of rest", "up --failed --resume", 2, []string{"choose one"}},
	} {
		r := e.run(append(strings.Fields(test.args), "--simulate")...)
		if r.code != test.code || r.stdout != "" {
			t.Errorf("%s: exit code %d, want %d; stdout %q", test.name, r.code, test.code, r.stdout)
		}
		for _, want := range test.want {
			if !strings.Contains(r.stderr, want) {
				t.Errorf("%s: the message does not say %q: %s", test.name, want, r.stderr)
			}
		}
	}

	names := ran(e.simulate(0, "refresh", "--only", "observability", "--skip", "certmgr"))
	if diff := cmp.Diff([]string{"observability"}, names); diff != "" {
		t.Errorf("refresh needs nothing of others: %s", diff)
	}
	destroyed := e.simulate(0, "destroy", "--only", "kubeconfig+")
	if got := results(destroyed); got != (event.Results{Succeeded: 3, Skipped: 7}) {
		t.Errorf("destroying what needs the kubeconfig: %+v", got)
	}
	if left := e.stateResources()["kind-cluster"]; len(left) == 0 {
		t.Error("the cluster, which was not selected, is gone")
	}
	if left := e.stateResources()["logstore"]; len(left) != 0 {
		t.Error("the logstore, which was selected, is still there")
	}
}

// TestASelectionReadsWhatItLeavesOut: references to skipped projects are as
// declared.
func TestASelectionReadsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.simulate(0, "up", "-p", "kind")
	for _, text := range warnings(e.simulate(0, "up", "--from", "certmgr")) {
		if strings.Contains(text, "reads") {
			t.Errorf("warning: %s", text)
		}
	}
}

func TestFailedAndResumed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.simulate(1, "up", "-p", "kind", "--on-error", "continue", "--simulate-fail", "kubernetes:helm.sh/v3:Release@prometheus=no way")
	if names := ran(e.simulate(1, "up", "--failed", "--simulate-fail", "kubernetes:helm.sh/v3:Release@prometheus=no way")); !slices.Equal(names, []string{"prometheus"}) {
		t.Errorf("--failed runs %v", names)
	}

	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  certmgr:chart_version: v1.20.0\n")
	r := e.run("up", "--simulate", "--yes", "--resume")
	if r.code != 3 || !strings.Contains(r.stderr, "Pulumi.dev.yaml") || !strings.Contains(r.stderr, "has changed since run") || !strings.Contains(r.stderr, "--resume-changed") {
		t.Errorf("--resume with another configuration: exit code %d, %s", r.code, r.stderr)
	}
	events := e.simulate(0, "up", "--resume-changed")
	if diff := cmp.Diff([]string{"certmgr", "prometheus", "bank-of-anthos"}, ran(events)); diff != "" {
		t.Error(diff)
	}
	if text := strings.Join(warnings(events), "\n"); !strings.Contains(text, "the configuration has changed") {
		t.Errorf("the warnings do not tell of the change: %s", text)
	}
	if names := ran(e.simulate(0, "up", "--resume")); len(names) > 0 {
		t.Errorf("resuming a run that is done runs %v", names)
	}
}

// TestResumeAfterOnly follows the hint after a selection that failed.
func TestResumeAfterOnly(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.simulate(1, "up", "-p", "kind", "--only", "+certmgr", "--simulate-fail", "kubernetes:helm.sh/v3:Release=no way")
	events := e.simulate(0, "up", "--resume")
	if diff := cmp.Diff([]string{"certmgr"}, ran(events)); diff != "" {
		t.Error(diff)
	}
	for _, x := range events[0].Excluded {
		done := x.Name == "kind-cluster" || x.Name == "kubeconfig"
		if done != strings.HasPrefix(x.Reason, "done in run ") || done == strings.HasPrefix(x.Reason, "not selected in run ") {
			t.Errorf("%s: %s", x.Name, x.Reason)
		}
	}
	if text := strings.Join(warnings(e.simulate(0, "up", "--resume")), "\n"); !strings.Contains(text, "nothing is left to do from run") {
		t.Errorf("resuming what is done: %s", text)
	}
	if r := e.run("up", "--simulate", "--failed"); r.code != 3 || !strings.Contains(r.stderr, "nothing failed in the last up of kind/dev: run ") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}

// TestRetry lets a release fail twice with an error that passes, and then with
// one that does not.
func TestRetry(t *testing.T) {
	t.Parallel()
	eachEngine(t, []string{embedded}, func(t *testing.T, e *environment) {
		const fault = "kubernetes:helm.sh/v3:Release@cert-manager=2x:read tcp 10.0.0.1:443: read: connection reset by peer"
		events := e.simulate(0, "up", "-p", "kind", "--only", "+certmgr", "--retry", "2", "--simulate-fail", fault)
		if attempt := finished(events)["certmgr"].Attempt; attempt != 3 {
			t.Errorf("certmgr took %d attempts, want 3", attempt)
		}
		events = e.simulate(1, "up", "--only", "+prometheus", "--retry", "5",
			"--simulate-fail", "kubernetes:helm.sh/v3:Release@prometheus=the chart is broken")
		if attempt := finished(events)["prometheus"].Attempt; attempt > 1 {
			t.Errorf("an error that does not pass was tried %d times", attempt)
		}
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	events := e.simulate(1, "up", "-p", "kind", "--timeout", "1m", "--timeout", "kind-cluster=1500ms", "--simulate-slow", "kind:index:Cluster=20s")
	cluster := finished(events)["kind-cluster"]
	if cluster.Result != event.Failed || cluster.Reason != "timed out after 1.5s" {
		t.Errorf("the cluster: %s (%s)", cluster.Result, cluster.Reason)
	}
	e.checkNoLocks()
	if got := results(e.simulate(0, "up", "--resume")); got.Failed+got.Cancelled > 0 {
		t.Errorf("resuming: %+v", got)
	}
}

// TestResumeKnowsPrograms: what a resumed run has done is done again where its program has changed since, with
// what reads its outputs, and nothing else is; --force is remembered.
func TestResumeKnowsPrograms(t *testing.T) {
	t.Parallel()
	long(t)
	testResumeKnowsPrograms(t, inDirectory(t))
}

func testResumeKnowsPrograms(t *testing.T, at place) {
	e := newEnvironment(t, embedded)
	e.useStatesAt(at)
	program := func(name, value string) {
		e.write(name+"/Pulumi.yaml", "name: "+name+"\nruntime: yaml\n"+value)
	}
	reader := func(of, to string) string {
		return "resources: {" + of + ": {type: pulumi:pulumi:StackReference, properties: {name: organization/" + of + "/dev}}}\noutputs: {value: \"${" + of + ".outputs[\"value\"]}-" + to + "\"}\n"
	}
	program("a", "outputs: {value: one}\n")
	program("b", strings.ReplaceAll(reader("a", "b"), `["value"]`, `.value`))
	program("c", strings.ReplaceAll(reader("b", "c"), `["value"]`, `.value`))
	program("other", "outputs: {value: x}\n")
	e.write("mara.yaml", "projects:\n- {path: a, outputs: [value]}\n- {path: b, reads: [a], outputs: [value]}\n"+
		"- {path: c, reads: [b], outputs: [value], hooks: [{name: check, run: [test, \"!\", -e, ../broken], on: before}]}\n- {path: other, outputs: [value], after: [c]}\n")
	up := func(want int, args ...string) []event.Event {
		r := e.run(append([]string{"up", "--yes", "-o", "json", "--parallel", "1"}, args...)...)
		if r.code != want {
			t.Fatalf("%v: exit code %d\n%s%s", args, r.code, lastLines(r.stdout), r.stderr)
		}
		return decode(t, r.stdout)
	}
	e.write("broken", "")
	up(1)
	expectRun(t, "resumed as it was", up(1, "--resume"), "c", "other")
	program("a", "outputs: {value: two}\n")
	again := up(1, "--resume")
	expectRun(t, "resumed with another program", again, "a", "b", "c", "other")
	if text := strings.Join(warnings(again), "\n"); !strings.Contains(text, "a (program)") {
		t.Errorf("warnings: %s", text)
	}
	if err := os.Remove(filepath.Join(e.root, "broken")); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "resumed to its end", up(0, "--resume"), "c", "other")
	if r := e.run("outputs", "c"); !strings.Contains(r.stdout, "two-b-c") {
		t.Errorf("outputs: %s%s", r.stdout, r.stderr)
	}
	expectRun(t, "another up", up(0), "c") // which has a hook
	e.write("broken", "")
	up(1, "--force")
	if err := os.Remove(filepath.Join(e.root, "broken")); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "--force is remembered", up(0, "--resume"), "c", "other")
}
