package files_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mara/config/files"
)

// TestRead: only regular files of a sane size are read, and nothing is waited for.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	make := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	make(os.WriteFile(at("file"), []byte("text"), 0o600))
	make(os.WriteFile(at("empty"), nil, 0o600))
	make(os.WriteFile(at("large"), []byte(strings.Repeat("x", 101)), 0o600))
	make(os.WriteFile(at("sparse"), nil, 0o600))
	make(os.Truncate(at("sparse"), 3<<30))
	make(os.Mkdir(at("directory"), 0o700))
	make(syscall.Mkfifo(at("pipe"), 0o600))
	listener, err := net.Listen("unix", at("socket"))
	make(err)
	defer listener.Close()
	for name, target := range map[string]string{
		"link": "file", "zero": "/dev/zero", "null": "/dev/null", "nowhere": "none", "cycle": "cycle", "to-pipe": "pipe", "to-directory": "directory",
	} {
		make(os.Symlink(target, at(name)))
	}
	for name, want := range map[string]string{
		"file": "", "empty": "", "link": "",
		"large":     "has 101 bytes or more; up to 100 are read",
		"sparse":    "has 3221225472 bytes or more; up to 100 are read",
		"directory": "is a directory", "to-directory": "is a directory",
		"pipe": "is a pipe, not a file", "to-pipe": "is a pipe, not a file",
		"socket": "is a socket, not a file",
		"zero":   "is a device, not a file", "null": "is a device, not a file",
		"nowhere": "is a link to none, which does not exist",
		"cycle":   "too many levels of symbolic links",
	} {
		content, err := files.Read(at(name), 100)
		if want == "" && (err != nil || name != "empty" && string(content) != "text") || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%s: %q, %v", name, content, err)
		}
	}
	if _, err := files.Read(at("none"), 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if content, err := files.Read("/proc/self/stat", 1<<20); err == nil && len(content) == 0 {
		t.Error("a file that does not tell its size is empty")
	}
	if _, err := files.Read("/proc/self/stat", 4); err == nil && files.Text > 0 {
		if _, missing := os.Stat("/proc/self/stat"); missing == nil {
			t.Error("a file that does not tell its size has no limit")
		}
	}
}
