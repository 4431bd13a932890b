package lock

import (
	"os"
	"os/exec"
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
