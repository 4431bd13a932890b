package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manyThings is how many resources the project has whose operations keep a journal.
const manyThings = 120

// manyStashes returns a project with many large resources, which are made one after the other in four rows.
func manyStashes() string {
	var text strings.Builder
	text.WriteString("name: many\nruntime: yaml\nresources:\n")
	for i := range manyThings {
		after := ""
		if i >= 4 {
			after = fmt.Sprintf(", options: {dependsOn: ['${r%d}']}", i-4)
		}
		fmt.Fprintf(&text, "  r%d: {type: 'pulumi:index:Stash', properties: {input: '%d %s'}%s}\n", i, i, strings.Repeat("x", 8000), after)
	}
	return text.String()
}

// manyEnvironment returns an environment with one project with many resources.
func manyEnvironment(t *testing.T, at place) *environment {
	e := emptyEnvironment(t)
	e.real = true
	e.useStatesAt(at)
	e.write("config/pulumi/environment", "PULUMI_STACK=dev\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	e.write("mara.yaml", "projects:\n- {path: many}\n")
	e.write("many/Pulumi.yaml", manyStashes())
	return e
}

// roundsOfMany is how many operations on many resources a test cuts off by itself.
const roundsOfMany = 4

// testKilledJournal: operations on a project with many resources are killed at random moments: the runner, an engine, or
// everything. What follows knows what they have done: commands that look, --resume, an up without it, and one with an
// installed Pulumi, which refuses a state that lags behind its journal.
func testKilledJournal(t *testing.T, at place) {
	e := manyEnvironment(t, at)
	everything := strike(killEverything)
	strikes := []strike{everything, sendSignal(syscall.SIGKILL), killSomeWorker}
	operations := []string{"up", "up again", "refresh", "destroy"}
	for round := range max(roundsOfMany, number(t, casesVariable, roundsOfMany)/10) {
		operation := operations[round%len(operations)]
		args := []string{strings.TrimSuffix(operation, " again"), "--yes"}
		if operation == "up again" {
			e.write("many/Pulumi.yaml", strings.ReplaceAll(manyStashes(), "xxx'", fmt.Sprintf("x%02d'", round)))
		}
		moment := time.Duration(300+rand.IntN(1200)) * time.Millisecond
		command := e.command(args...)
		output := &shared{}
		command.Stdout, command.Stderr = output, output
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(moment)
		strikes[round%len(strikes)](e, chaosCase{}, trouble{chance: rand.IntN(100)}, command)
		_ = command.Wait()
		e.checkNoProcess()
		when := fmt.Sprintf("round %d: %s, killed after %s", round, operation, moment)
		for _, look := range []string{"status", "history"} {
			if r := e.run(look); r.code != 0 {
				t.Errorf("%s: %s: exit code %d\n%s", when, look, r.code, r.stderr)
			}
		}
		switch again := []string{args[0], "--yes"}; round % 3 {
		case 0:
			e.carryOnUntil(again, succeeded)
		case 1:
			e.followUntilDone(again)
		case 2:
			e.followUntilDone(append(again, "--pulumi", program(t, "pulumi")))
		}
		e.checkMany(when, args[0])
	}
	if left := e.objects("", "list", strings.Trim(at.backend, `"`), ".pulumi/mara-journal"); left != "{}" {
		t.Errorf("journals are left: %.300s", left)
	}
}

// checkMany checks that all resources are there once after an operation, or none after a destroy, and no lock.
func (e *environment) checkMany(when, operation string) {
	e.t.Helper()
	want := manyThings
	if operation == "destroy" {
		want = 0
	}
	if got := e.stashes(); got != want {
		e.t.Errorf("%s: %d resources in the end, want %d", when, got, want)
	}
	if text := e.succeed("unlock", "--yes"); !strings.Contains(text, "nothing is locked") {
		e.t.Errorf("%s: locks are left: %s", when, text)
	}
}

// stashes counts the resources in the state of the project with many.
func (e *environment) stashes() int {
	e.t.Helper()
	r := e.run("pulumi", "many", "--", "stack", "export")
	if r.code != 0 {
		return 0
	}
	var exported struct {
		Deployment struct {
			Resources []struct{ Type string }
			Pending   []any `json:"pending_operations"`
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &exported); err != nil {
		e.t.Fatalf("%v: %s", err, r.stdout)
	}
	if n := len(exported.Deployment.Pending); n > 0 {
		e.t.Errorf("%d operations are pending", n)
	}
	count := 0
	for _, resource := range exported.Deployment.Resources {
		if resource.Type == "pulumi:index:Stash" {
			count++
		}
	}
	return count
}

// TestKilledJournal is the case with states in files.
func TestKilledJournal(t *testing.T) {
	t.Parallel()
	long(t)
	testKilledJournal(t, inDirectory(t))
}
