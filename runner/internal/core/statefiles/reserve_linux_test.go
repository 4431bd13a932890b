package statefiles

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReserve writes to a disk that is full but for the reserve.
func TestReserve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("no file system can be mounted here, so none can be full: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	if _, err := takeReserve(dir, 4<<20); err == nil {
		t.Error("more was kept than there is")
	}
	reserve, err := takeReserve(dir, 5<<19)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
		t.Errorf("the reserve shows: %v, %v", found, err)
	}
	state := filepath.Join(dir, "dev.json")
	if err := os.WriteFile(state, make([]byte, 1<<20), 0o600); err == nil || !reserve.isWanted() {
		t.Errorf("there is room for a state besides the reserve: %v", err)
	}
	if !reserve.giveUp() || reserve.isWanted() {
		t.Error("the reserve was not given up")
	}
	if err := os.WriteFile(state, make([]byte, 1<<20), 0o600); err != nil {
		t.Error(err)
	}
	reserve = nil
	if reserve.isWanted() || reserve.giveUp() {
		t.Error("there is something in no reserve")
	}
}
