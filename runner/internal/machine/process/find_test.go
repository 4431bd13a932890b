package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"mara/runner/internal/machine/process"
)

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "text": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	path := "relative" + string(os.PathListSeparator) + dir
	for name, want := range map[string]string{
		"tool": filepath.Join(dir, "tool"), "./tool": filepath.Join(dir, "tool"), dir + "/tool": filepath.Join(dir, "tool"),
		"text": "", "./text": "", "./none": "", "none": "",
	} {
		got, err := process.Find(name, dir, path)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
}
