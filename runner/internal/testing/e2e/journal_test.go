package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
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

// testKilledJournal: an operation of a project with many resources is killed with everything at random moments. What
// follows knows what it has done: commands that look, --resume, and an up without it.
func testKilledJournal(t *testing.T, at place) {
	e := emptyEnvironment(t)
	e.real = true
	e.useStatesAt(at)
	e.write("config/pulumi/environment", "PULUMI_STACK=dev\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	e.write("mara.yaml", "projects:\n- {path: many}\n")
	e.write("many/Pulumi.yaml", manyStashes())
	for round, operation := range []string{"up", "up", "refresh", "destroy"} {
		if round == 1 {
			e.write("many/Pulumi.yaml", strings.ReplaceAll(manyStashes(), "xxx'", "xxy'"))
		}
		moment := time.Duration(300+rand.IntN(1200)) * time.Millisecond
		command := e.command(operation, "--yes")
		output := &shared{}
		command.Stdout, command.Stderr = output, output
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(moment)
		killEverything(e, chaosCase{}, trouble{}, command)
		_ = command.Wait()
		e.checkNoProcess()
		when := fmt.Sprintf("%s, killed after %s", operation, moment)
		for _, look := range []string{"status", "history"} {
			if r := e.run(look); r.code != 0 {
				t.Errorf("%s: %s: exit code %d\n%s", when, look, r.code, r.stderr)
			}
		}
		if operation == "up" && round == 1 {
			e.followUntilDone([]string{"up", "--yes"})
		} else {
			e.carryOnUntil([]string{operation, "--yes"}, succeeded)
		}
		want := manyThings
		if operation == "destroy" {
			want = 0
		}
		if got := e.stashes(); got != want {
			t.Errorf("%s: %d resources in the end, want %d", when, got, want)
		}
	}
	if text := e.succeed("unlock", "--yes"); !strings.Contains(text, "nothing is locked") {
		t.Errorf("locks are left: %s", text)
	}
	if left := e.objects("", "list", strings.Trim(at.backend, `"`), ".pulumi/mara-journal"); left != "{}" {
		t.Errorf("journals are left: %.300s", left)
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
