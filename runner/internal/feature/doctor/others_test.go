package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestOthers: people other than oneself are found by their processes; services of the system are no people.
func TestOthers(t *testing.T) {
	t.Parallel()
	proc := t.TempDir()
	for name, uid := range map[string]string{"1": "0", "20": "65534", "21": "103", "30": "54321", "31": "54321", "40": "54322", "self": "54323"} {
		if err := os.MkdirAll(filepath.Join(proc, name), 0o755); err != nil {
			t.Fatal(err)
		}
		status := "Name:\tx\nUid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid + "\nGid:\t1\n"
		if err := os.WriteFile(filepath.Join(proc, name, "status"), []byte(status), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := othersIn(proc, 54322); !slices.Equal(got, []string{"user 54321"}) {
		t.Errorf("got %q", got)
	}
	if got := othersIn(proc, 0); !slices.Equal(got, []string{"user 54321", "user 54322"}) {
		t.Errorf("got %q", got)
	}
	if got := othersIn(filepath.Join(proc, "none"), 0); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}
