// Package scripttest gives tests scripts where the code under test expects
// programs.
package scripttest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Directory writes scripts, by name and body, into a temporary directory.
func Directory(t testing.TB, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, body := range scripts {
		Write(t, filepath.Join(dir, name), body)
	}
	return dir
}

// Write writes a shell script that can be run at once. Linux refuses to run a file
// that is open for writing ("text file busy"), and a process that is being started
// has all files of its parent open for a moment. So Write blocks the start of
// processes while it writes.
func Write(t testing.TB, path, body string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
