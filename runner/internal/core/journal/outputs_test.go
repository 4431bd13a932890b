package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/journal"
)

func TestOutputs(t *testing.T) {
	t.Parallel()
	j, err := journal.Create(journal.Options{Dir: t.TempDir(), ID: journal.NewID(start)})
	if err != nil {
		t.Fatal(err)
	}
	run := journal.Run{ID: j.ID(), Dir: j.Dir()}
	if err := j.KeepOutputs(nil); err != nil {
		t.Error(err)
	}
	if got, err := run.Outputs(); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	want := journal.Outputs{"aws-vpc": {"id": "vpc-1", "zones": []any{"a", "b"}}}
	if err := j.KeepOutputs(want); err != nil {
		t.Error(err)
	}
	got, err := run.Outputs()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	file := filepath.Join(run.Dir, "outputs.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Outputs(); err == nil {
		t.Error("read a file that is cut off")
	}
}
