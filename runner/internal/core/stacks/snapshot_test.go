package stacks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSnapshotsFindWhatIsStale(t *testing.T) {
	t.Parallel()
	const secret = `{"4dabf18193072939515e22adb298388d":"x","ciphertext":"%s"}`
	directory := t.TempDir()
	write := func(project, content string) {
		file := filepath.Join(directory, ".pulumi", "stacks", project, "dev.json")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(`{"checkpoint":{"latest":{"resources":[`+content+`]}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const reference = `{"type":"pulumi:pulumi:StackReference","id":"organization/vpc/dev","outputs":{"outputs":`
	write("vpc", `{"type":"pulumi:pulumi:Stack","outputs":{"id":"vpc-1","zones":["a", "b"],"new":1,"token":`+secret+`}}`)
	write("same", reference+`{"zones":["a","b"],"id":"vpc-1","token":`+secret+`}}}`)
	write("changed", reference+`{"zones":["a"],"id":"vpc-0","token":`+secret+`}}}`)
	write("gone", reference+`{"zones":["a","b"],"password":`+secret+`}}}`)
	write("other", `{"type":"pulumi:pulumi:StackReference","id":"organization/nowhere/dev","outputs":{"outputs":{"a":1}}}`)
	e := openIn(t, directory)
	now := map[string]Snapshot{}
	for _, project := range []string{"vpc", "same", "changed", "gone", "other", "never"} {
		snapshot, err := e.Snapshot(t.Context(), project)
		if err != nil {
			t.Fatal(err)
		}
		now[project] = snapshot
	}
	want := map[string][]Stale{"changed": {{Project: "vpc", Outputs: []string{"id", "zones"}}}, "gone": {{Project: "vpc", Outputs: []string{"password"}}}}
	for project, snapshot := range now {
		if diff := cmp.Diff(want[project], snapshot.StaleAgainst(now)); diff != "" {
			t.Errorf("%s: %s", project, diff)
		}
	}
	write("vpc", "{")
	if _, err := e.Snapshot(t.Context(), "vpc"); err == nil {
		t.Error("a broken state is read")
	}
}
