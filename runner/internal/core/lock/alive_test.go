package lock

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestIsAlive(t *testing.T) {
	t.Parallel()
	if !IsAlive(os.Getpid()) {
		t.Error("this process is not alive")
	}
	now := time.Now()
	if !IsAliveSince(os.Getpid(), now) || runtime.GOOS == "linux" && IsAliveSince(os.Getpid(), now.Add(-24*time.Hour*365)) {
		t.Errorf("this process began at %s", beginOf(os.Getpid()))
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if IsAlive(gone.Process.Pid) {
		t.Error("a process that has ended is alive")
	}
	if IsAliveSince(gone.Process.Pid, now) {
		t.Error("a process that has ended is alive since then")
	}
}

// TestKeepCurrent: the lock of a file that cannot be compared with the one at its path is released.
func TestKeepCurrent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := tryLock(f); err != nil {
		t.Fatal(err)
	}
	if _, err := keepCurrent(f, filepath.Join(path, "below a file")); err == nil {
		t.Skip("this system finds files below files")
	}
	if _, err := f.Stat(); err == nil {
		t.Error("the file is still open")
		f.Close()
	}
	again, err := open(path)
	if err != nil {
		t.Fatalf("the lock is still held: %v", err)
	}
	if err := release(again); err != nil {
		t.Error(err)
	}
}
