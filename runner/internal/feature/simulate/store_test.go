package simulate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAbandoned: a process that is killed while it writes leaves a temporary file. The
// next process removes it, but not the files of a running process.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	directory := filepath.Join(t.TempDir(), "aws")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(directory, fmt.Sprintf(unfinished, gone.ProcessState.Pid())+"1")
	written := filepath.Join(directory, fmt.Sprintf(unfinished, os.Getpid())+"2")
	for _, file := range []string{left, written} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := openStore(filepath.Dir(directory)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("an abandoned file remains")
	}
	if _, err := os.Stat(written); err != nil {
		t.Errorf("the file of a running process is gone: %v", err)
	}
}
