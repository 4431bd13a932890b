// Package scripttest gives tests scripts where the code under test expects
// programs.
package scripttest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Folder is a folder with scripts, by name and body.
func Folder(t testing.TB, scripts map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, body := range scripts {
		Write(t, filepath.Join(folder, name), body)
	}
	return folder
}

// Write writes a shell script, which can be run at once. Linux runs no file that
// anybody has open for writing ("text file busy"), and a process that is being
// started has all files of its parent open for a moment: so nothing is started
// while the script is written.
func Write(t testing.TB, path, body string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
