package query

import (
	"embed"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFilesAreFiles: a query that is a pipe or an endless device says so. `check` waited for a pipe, and filled the memory
// with a device.
func TestFilesAreFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.jq"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.jq")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "good.jq"), []byte(".items"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := Files(dir, embed.FS{}, ".")
	if err != nil || len(found) != 3 {
		t.Fatalf("%v, %v", found, err)
	}
	for i, want := range []string{"", "is a pipe, not a file", "is a device, not a file"} {
		if err := found[i].Err; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", found[i].Name, err, want)
		}
	}
}
