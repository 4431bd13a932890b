package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manyThings is how many resources the project has whose operations keep a journal.
const manyThings = 120

// manyStashes returns a project with many large resources, which are made one after the other in four rows.
func manyStashes() string { return stashesInRows(4) }

// stashesInRows returns it with as many rows.
func stashesInRows(rows int) string {
	var text strings.Builder
	text.WriteString("name: many\nruntime: yaml\nresources:\n")
	for i := range manyThings {
		after := ""
		if i >= rows {
			after = fmt.Sprintf(", options: {dependsOn: ['${r%d}']}", i-rows)
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
	for round := range max(roundsOfMany, (number(t, casesVariable, roundsOfMany)+2)/3) { // of three places
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
	if got, pending := e.stashes(); got != want || pending > 0 {
		e.t.Errorf("%s: %d resources in the end, want %d; %d operations are pending", when, got, want, pending)
	}
	if text := e.succeed("unlock", "--yes"); !strings.Contains(text, "nothing is locked") {
		e.t.Errorf("%s: locks are left: %s", when, text)
	}
}

// journals is the pattern of the files with the journals of the project with many resources, whose states are files.
func (p place) journals() string {
	return filepath.Join(strings.TrimPrefix(p.backend, "file://"), ".pulumi/mara-journal/many/dev/*/journal")
}

// hasJournal tells whether there is a file of the pattern.
func hasJournal(pattern string) bool {
	found, _ := filepath.Glob(pattern)
	return len(found) > 0
}

// loseLastEntry makes journals as if they had been cut off before their last entry was whole.
func loseLastEntry(t *testing.T, pattern string) {
	t.Helper()
	found, _ := filepath.Glob(pattern)
	for _, name := range found {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, info.Size()-1); err != nil {
			t.Fatal(err)
		}
	}
}

// cutOffMany kills everything in the middle of an up. It returns what the state and its journal have then.
func (e *environment) cutOffMany(at place) (made, pending int) {
	e.t.Helper()
	command := e.command("up", "--yes")
	if err := command.Start(); err != nil {
		e.t.Fatal(err)
	}
	few := func(name string) bool { // the first record says what was before the journal
		content, err := os.ReadFile(name)
		return err == nil && bytes.Count(content, []byte("\n")) > 5
	}
	for try := 0; ; try++ {
		if found, _ := filepath.Glob(at.journals()); slices.ContainsFunc(found, few) {
			break
		}
		if try == 12_000 {
			e.t.Fatal("there is no journal with resources")
		}
		time.Sleep(10 * time.Millisecond)
	}
	for pid := range e.processes() { // or the engine would end in good order when it sees that the runner is gone
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	killEverything(e, chaosCase{}, trouble{}, command)
	_ = command.Wait()
	e.checkNoProcess()
	if made, pending = e.stashes(); made == 0 {
		e.t.Error("nothing was made")
	}
	return made, pending
}

// plainMany runs the installed Pulumi in the directory of the project with many resources. It returns what it prints.
func (e *environment) plainMany(succeeds bool, args ...string) string {
	e.t.Helper()
	plain := e.command()
	plain.Path, plain.Args = program(e.t, "pulumi"), append(append([]string{"pulumi"}, args...), "--stack", "organization/many/dev")
	plain.Dir = filepath.Join(e.root, "many")
	output, err := plain.CombinedOutput()
	if (err == nil) != succeeds {
		e.t.Fatalf("plain %v: %v\n%s", args, err, output)
	}
	return string(output)
}

// stashes counts the resources in the state of the project with many, and the operations that are pending.
func (e *environment) stashes() (count, pending int) {
	e.t.Helper()
	r := e.run("pulumi", "many", "--", "stack", "export")
	if r.code != 0 {
		return 0, 0
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
	for _, resource := range exported.Deployment.Resources {
		if resource.Type == "pulumi:index:Stash" {
			count++
		}
	}
	return count, len(exported.Deployment.Pending)
}

// TestKilledJournal is the case with states in files.
func TestKilledJournal(t *testing.T) {
	t.Parallel()
	long(t)
	testKilledJournal(t, inDirectory(t))
}

// TestMovedJournal: a move to another backend takes along what is in the journal of an operation that was cut off.
func TestMovedJournal(t *testing.T) {
	t.Parallel()
	long(t)
	from, to := inDirectory(t), inDirectory(t)
	e := manyEnvironment(t, from)
	e.write("many/Pulumi.yaml", stashesInRows(1)) // at most one operation is pending
	made, pending := e.cutOffMany(from)
	if r := e.run("state", "move", "--to", to.backend, "--yes"); r.code != 4 || !strings.Contains(r.stderr, "runner unlock") {
		t.Errorf("beside the lock of what was cut off: exit code %d\n%s", r.code, r.stderr)
	}
	e.plainMany(true, "cancel", "--yes") // the lock alone: the runner's own unlock takes the journal over
	if !hasJournal(from.journals()) {
		t.Error("the journal is gone")
	}
	if pending > 0 { // which an import would forget
		if r := e.run("state", "move", "--to", to.backend, "--yes"); r.code != 3 || !strings.Contains(r.stderr, "runner repair") {
			t.Errorf("with a creation that was cut off: exit code %d\n%s", r.code, r.stderr)
		}
		loseLastEntry(t, from.journals())
		if made, pending = e.stashes(); pending > 0 {
			t.Fatalf("%d operations are pending without the last entry of the journal", pending)
		}
	}
	e.succeed("state", "move", "--to", to.backend, "--yes")
	e.env = append(e.env, "PULUMI_BACKEND_URL="+to.backend)
	if got, left := e.stashes(); got != made || left != pending {
		t.Errorf("%d resources and %d pending operations before the move, %d and %d after it", made, pending, got, left)
	}
	e.carryOnUntil([]string{"up", "--yes"}, succeeded)
	e.checkMany("after the move", "up")
}

// TestTakenOverJournal: unlock and repair each take what is in the journal of an operation that was cut off into the state, where
// plain Pulumi finds it. A journal that does not belong to its state stays until --forget-journal says that the state is right.
func TestTakenOverJournal(t *testing.T) {
	t.Parallel()
	long(t)
	for _, command := range []string{"unlock", "repair"} {
		at := inDirectory(t)
		e := manyEnvironment(t, at)
		made, pending := e.cutOffMany(at)
		if !hasJournal(at.journals()) {
			t.Fatalf("%s: there is no journal", command)
		}
		if text := e.plainMany(false, "up", "--yes"); !strings.Contains(text, "locked") {
			t.Errorf("%s: plain Pulumi beside the lock: %s", command, text)
		}
		e.followUntilDone([]string{command, "--yes"})
		if command == "unlock" { // which repairs nothing
			if got, left := e.stashes(); got != made || left != pending {
				t.Errorf("%d resources and %d pending operations before unlock, %d and %d after it", made, pending, got, left)
			}
		}
		if hasJournal(at.journals()) {
			t.Errorf("%s: the journal is there still", command)
		}
		if got := strings.Count(e.plainMany(true, "stack", "export"), `"type": "pulumi:index:Stash"`); got < made {
			t.Errorf("%s: plain Pulumi sees %d resources of %d", command, got, made)
		}
		e.carryOnUntil([]string{"up", "--yes"}, succeeded)
		e.checkMany(command, "up")
	}
}

// TestForeignJournal: something else has written the state since a journal was cut off. No operation replays it, and
// repair drops it where it is told that the state is right as it is.
func TestForeignJournal(t *testing.T) {
	t.Parallel()
	long(t)
	at := inDirectory(t)
	e := manyEnvironment(t, at)
	e.write("many/Pulumi.yaml", strings.ReplaceAll(manyStashes(), "xxxx", "y"))
	e.succeed("up", "--yes")
	before := filepath.Join(t.TempDir(), "state.json")
	e.plainMany(true, "stack", "export", "--file", before)
	e.write("many/Pulumi.yaml", manyStashes())
	e.cutOffMany(at)
	e.plainMany(true, "cancel", "--yes")
	content, err := os.ReadFile(before)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(before, []byte(strings.ReplaceAll(string(content), "yyyy", "zzzz")), 0o600); err != nil {
		t.Fatal(err)
	}
	e.plainMany(true, "stack", "import", "--force", "--file", before)
	for _, args := range [][]string{{"up", "--yes"}, {"refresh", "--yes"}, {"destroy", "--yes"}, {"repair", "--yes"}} {
		r := e.run(args...)
		if r.code == 0 || !strings.Contains(r.stdout+r.stderr, "runner repair --forget-journal") {
			t.Errorf("%v: exit code %d\n%s%s", args, r.code, lastLines(r.stdout), r.stderr)
		}
		if !hasJournal(at.journals()) {
			t.Fatalf("%v has dropped the journal", args)
		}
	}
	e.succeed("repair", "--forget-journal", "--yes")
	if hasJournal(at.journals()) {
		t.Error("the journal is there still")
	}
	if text := e.plainMany(true, "stack", "export"); !strings.Contains(text, "zzzz") || strings.Contains(text, "xxxx") {
		t.Errorf("the state is not what was imported: %.300s", text)
	}
	e.succeed("up", "--yes")
	e.checkMany("after the journal was forgotten", "up")
}
