package discover

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mara/config/lists"
)

func TestUnreadable(t *testing.T) {
	t.Parallel()
	denied := &fs.PathError{Op: "open", Path: "/root/db/pgdata", Err: fs.ErrPermission}
	reason := unreadable("/root", "/root/db/pgdata", denied)
	if want := "db/pgdata is skipped: with any projects in it: it cannot be read (permission denied)"; reason.String() != want {
		t.Errorf("got %q, want %q", reason, want)
	}
	if _, _, err := Find(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a root that cannot be read is no error")
	}
}

// TestFindUnreadable: a directory that cannot be read does not end the search. Root reads every directory.
func TestFindUnreadable(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	closed := filepath.Join(root, "pgdata")
	for _, dir := range []string{filepath.Join(root, "net"), closed} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "net", "Pulumi.yaml"), []byte("name: net\nruntime: yaml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("this user reads every directory")
	}
	all, unsure, err := Find(root)
	want := []string{"pgdata is skipped: with any projects in it: it cannot be read (permission denied)"}
	if err != nil || len(all) != 1 || all[0].Name != "net" || !slices.Equal(lists.Map(unsure, Refused.String), want) {
		t.Errorf("found %v, unsure of %q, %v", all, unsure, err)
	}
}
