package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, path string
		want       Status
		text       string
	}{
		{"there", dir, OK, "everything can be written, "},
		{"not yet there", filepath.Join(dir, "a", "b"), OK, ""},
		{"a file in the way", filepath.Join(file, "a", "b"), Problem, "the directory of the state, " + file + "/a/b, cannot be made: " + file + " is a file"},
		{"a disk without write permission", "/proc/self", Problem, "the directory of the state, /proc/self, cannot be written: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Disk([]Directory{{Name: "the state", Path: test.path}, {Name: "more", Path: dir}}).Look(t.Context())
			if worst(got) != test.want || !strings.HasPrefix(got[0].Text, test.text) {
				t.Errorf("got %v", got)
			}
		})
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

// TestDiskTellsOnce what is wrong with a whole disk, and each directory that is
// wrong by itself.
func TestDiskTellsOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := Disk([]Directory{{"a", "/sys/kernel"}, {"b", "/sys/kernel/c"}, {"d", file + "/d"}, {"e", t.TempDir()}}).Look(t.Context())
	if len(got) != 2 || !strings.HasPrefix(got[0].Text, "the directory of a, ") && !strings.HasPrefix(got[0].Text, "only 0 MB are free for a, ") || !strings.HasPrefix(got[1].Text, "the directory of d, ") {
		t.Errorf("got %v", got)
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[uint64]string{0: "0 MB", 5 << 20: "5 MB", 3 << 29: "1.5 GB", 300 << 30: "300 GB"} {
		if got := size(bytes); got != want {
			t.Errorf("%d: got %s, want %s", bytes, got, want)
		}
	}
}
