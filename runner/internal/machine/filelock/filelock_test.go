package filelock

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKeepCurrent: the lock of a file that cannot be compared with the one at its path is released.
func TestKeepCurrent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if taken, err := Try(f); taken || err != nil {
		t.Fatal(taken, err)
	}
	if _, err := keepCurrent(f, filepath.Join(path, "below a file")); err == nil {
		t.Skip("this system finds files below files")
	}
	if _, err := f.Stat(); err == nil {
		t.Error("the file is still open")
		f.Close()
	}
	again, taken, err := Open(path)
	if taken || err != nil {
		t.Fatalf("the lock is still held: %v", err)
	}
	if err := Remove(again); err != nil {
		t.Error(err)
	}
}
