package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
)

// TestPastRuns looks at a failed run and the one that resumed it, with every
// command about past runs.
func TestPastRuns(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	failed := e.simulate(1, "up", "-p", "kind", "--simulate-fail", "kind:index:Cluster=no space", "--report", "failed.xml")
	e.simulate(0, "up", "--force") // some project may have succeeded before

	var runs []struct{ ID, Operation, Result, By string }
	if err := json.Unmarshal([]byte(e.output("history", "--simulate", "-o", "json")), &runs); err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 || runs[0].Result != "succeeded" || runs[1].Result != "failed" || runs[0].By == "" {
		t.Fatalf("history = %+v, want a success after a failure", runs)
	}
	if runs[1].ID != failed[0].Run {
		t.Errorf("the failed run is %s in its events and %s in the history", failed[0].Run, runs[1].ID)
	}
	for _, test := range []struct {
		args string
		want []string
	}{
		{"history --simulate", []string{runs[0].ID, "[SIMULATED]", "failed"}},
		{"show --simulate", []string{"14 succeeded", "SIMULATED"}},
		{"show --simulate " + runs[1].ID, []string{"FAILED", "no space"}},
		{"logs --simulate certmgr", []string{"cert-manager"}},
		{"logs --simulate --errors " + runs[1].ID, []string{"no space"}},
		{"report --simulate", []string{"<!doctype html>", "SIMULATED", "bank-of-anthos"}},
		{"report --simulate --format junit " + runs[1].ID, []string{"<testsuite", "no space"}},
		{"schema events", []string{`"$schema"`, "run.finished"}},
	} {
		output := e.output(strings.Fields(test.args)...)
		for _, want := range test.want {
			if !strings.Contains(strings.ToLower(output), strings.ToLower(want)) {
				t.Errorf("runner %s does not say %q:\n%s", test.args, want, lastLines(output))
			}
		}
	}
	again := decode(t, e.output("show", "--simulate", "-o", "json", runs[1].ID))
	if len(again) != len(failed) || again[len(again)-1].Type != event.RunFinished {
		t.Errorf("show -o json has %d events, the run had %d", len(again), len(failed))
	}
	if content, err := os.ReadFile(filepath.Join(e.root, "failed.xml")); err != nil || !strings.Contains(string(content), "<testsuite") {
		t.Errorf("--report failed.xml: %v\n%s", err, content)
	}
	if r := e.run("show", "--simulate", "1999"); r.code != 2 || !strings.Contains(r.stderr, "runner history") {
		t.Errorf("an unknown run: exit code %d, %s", r.code, r.stderr)
	}
}

// output runs a command that has to succeed and returns what it printed.
func (e *environment) output(args ...string) string {
	e.t.Helper()
	r := e.run(args...)
	if r.code != 0 {
		e.t.Fatalf("runner %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}
