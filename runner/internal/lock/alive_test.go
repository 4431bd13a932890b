package lock

import (
	"os"
	"os/exec"
	"testing"
)

func TestIsAlive(t *testing.T) {
	t.Parallel()
	if !IsAlive(os.Getpid()) {
		t.Error("this process is not alive")
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if IsAlive(gone.Process.Pid) {
		t.Error("a process that has ended is alive")
	}
}
