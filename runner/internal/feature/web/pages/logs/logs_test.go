package logs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readAll reads a file in steps, as a follower does while it grows.
func readAll(t *testing.T, path string, over bool) (text string, offset int64) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for range 1000 {
		content, rest, err := readLines(file, offset, over)
		if err != nil {
			t.Fatal(err)
		}
		if len(content) == 0 {
			return text, offset
		}
		if len(content) > chunk {
			t.Fatalf("%d bytes at a time", len(content))
		}
		text += string(content)
		offset += int64(len(content)) + rest
	}
	t.Fatal("it never ends")
	return "", 0
}

// TestReadLines: whole lines come, each once; a line without its end waits for it, unless the run has ended; of a very
// long line the beginning comes, whatever its length.
func TestReadLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	long := strings.Repeat("x", 3*chunk+17)
	for name, test := range map[string]struct {
		content string
		over    bool
		want    string
		rest    int // bytes that are not read yet
	}{
		"empty":                {"", false, "", 0},
		"lines":                {"a\nb\n", false, "a\nb\n", 0},
		"a part":               {"a\nb", false, "a\n", 1},
		"a part at the end":    {"a\nb", true, "a\nb", 0},
		"many":                 {strings.Repeat("12345678 line\n", 20_000), false, strings.Repeat("12345678 line\n", 20_000), 0},
		"long":                 {"a\n" + long + "\nb\n", false, "a\n" + long[:chunk] + "b\n", 0},
		"long without its end": {"a\n" + long, false, "a\n", len(long)},
		"long at the end":      {"a\n" + long, true, "a\n" + long[:chunk], 0},
		"exactly a chunk":      {strings.Repeat("y", chunk-1) + "\nb\n", false, strings.Repeat("y", chunk-1) + "\nb\n", 0},
		"a chunk, no end":      {strings.Repeat("y", chunk) + "\nb\n", false, strings.Repeat("y", chunk) + "b\n", 0},
	} {
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, offset := readAll(t, path, test.over)
		if got != test.want || int(offset) != len(test.content)-test.rest {
			t.Errorf("%s: %d bytes, at %d; want %d bytes, at %d", name, len(got), offset, len(test.want), len(test.content)-test.rest)
		}
	}
}

// FuzzReadLines: whatever a log has, and wherever reading begins, it ends, within bounds.
func FuzzReadLines(f *testing.F) {
	f.Add([]byte("a\n\xff\x1b[31m\r\nb"), int64(1), true)
	f.Add([]byte(""), int64(-5), false)
	f.Add(bytes.Repeat([]byte("z"), 2*chunk), int64(1<<40), true)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, at int64, over bool) {
		path := filepath.Join(dir, "log")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		got, rest, err := readLines(file, max(at, 0), over)
		if err != nil || len(got) > chunk || rest < 0 || max(at, 0) <= int64(len(content)) && max(at, 0)+int64(len(got))+rest > int64(len(content)) {
			t.Errorf("%d bytes and %d, %v", len(got), rest, err)
		}
	})
}

// TestIsBad: a line is marked for what it says, not for letters in it.
func TestIsBad(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"error: creating Bucket":                          true,
		"info: ERROR the server is gone":                  true,
		"1 failed, 3 passed":                              true,
		"fatal: not a git repository":                     true,
		"info: <img src=x onerror=alert(2)>":              false,
		"info: 0 errors, 0 failed":                        false,
		"no errors were found":                            false,
		"failed=0 changed=2":                              false,
		"unfailed is no word of this and terrors is none": false,
		"0 errors, 1 failed":                              true,
	} {
		if isBad(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}
