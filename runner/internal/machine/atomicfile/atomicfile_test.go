package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/machine/atomicfile"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	steps := []struct {
		content  string
		mode     os.FileMode
		wantMode os.FileMode
	}{
		{"one", 0o600, 0o600},
		{"two", 0o644, 0o600}, // an existing file keeps its mode
	}
	for _, step := range steps {
		if err := atomicfile.Write(path, []byte(step.content), step.mode); err != nil {
			t.Fatal(err)
		}
		checkFile(t, path, step.content, step.wantMode)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("f", link); err != nil {
		t.Skip(err)
	}
	if err := atomicfile.Write(link, []byte("three"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if target, linkErr := os.Readlink(link); err != nil || string(got) != "three" || linkErr != nil || target != "f" {
		t.Errorf("got %q, %v; link to %q, %v", got, err, target, linkErr)
	}
	checkNoLeftovers(t, dir, 2)
}

func TestWriteFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := atomicfile.Write(filepath.Join(dir, "none", "f"), nil, 0o600); !errors.Is(err, os.ErrNotExist) || !strings.HasSuffix(err.Error(), "/f: no such file or directory") {
		t.Errorf("missing directory: %v", err) // its cause decides what to do about it
	}
	directory := filepath.Join(dir, "directory")
	if err := os.MkdirAll(filepath.Join(directory, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(directory, nil, 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	checkNoLeftovers(t, dir, 1)
}

func checkNoLeftovers(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != want {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other, link := filepath.Join(dir, "other"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(other, []byte("mine"), 0o644), os.Symlink(other, link)); err != nil {
		t.Skip(err)
	}
	if err := atomicfile.Replace(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	checkFile(t, link, "new", 0o600)
	checkFile(t, other, "mine", 0o644)
	if err := atomicfile.Replace(other, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	checkFile(t, other, "new", 0o600)
	checkNoLeftovers(t, dir, 2)
}

func TestCreate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := atomicfile.Create(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Create(path, []byte("two"), 0o644); !errors.Is(err, os.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	checkFile(t, path, "one", 0o600)
	checkNoLeftovers(t, dir, 1)
}

func checkFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	info, statErr := os.Lstat(path)
	if err != nil || statErr != nil || string(got) != content || info.Mode() != mode {
		t.Errorf("%s: %q, %v, %v, %v", path, got, info, err, statErr)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := atomicfile.Create(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is missing
		if err := atomicfile.Remove(path); err != nil {
			t.Error(err)
		}
	}
	checkNoLeftovers(t, dir, 0)
	full := filepath.Join(dir, "directory", "file")
	if err := os.MkdirAll(full, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Remove(filepath.Dir(full)); err == nil {
		t.Error("a directory with something in it is no file")
	}
}

// TestReplaceDirectoryKeepsOld: the old directory stays until another one has its place.
func TestReplaceDirectoryKeepsOld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	if err := os.MkdirAll(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.ReplaceDirectory(kept, filepath.Join(dir, "missing")); err == nil {
		t.Error("a directory that does not exist was moved")
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}
