//go:build unix

package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/testing/eventtest"
)

// TestTail writes a run bit by bit, and reads it with tails that continue where the last one ended.
func TestTail(t *testing.T) {
	t.Parallel()
	want := eventtest.Failure()
	var text []byte
	for _, e := range want {
		line, err := event.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, line...)
	}
	run := journal.Run{ID: "x", Dir: t.TempDir()}
	file, err := os.Create(filepath.Join(run.Dir, "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var got []event.Event
	offset := int64(0)
	for len(text) > 0 {
		n := min(len(text), 137)
		if _, err := file.Write(text[:n]); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
		tail := run.Tail(offset)
		if err := tail.Next(func(e event.Event) error { got = append(got, e); return nil }); err != nil {
			t.Fatal(err)
		}
		offset = tail.Offset()
	}
	if len(got) != len(want) || got[len(got)-1].Type != event.RunFinished {
		t.Errorf("got %d events, want %d", len(got), len(want))
	}
	if info, err := file.Stat(); err != nil || info.Size() != offset {
		t.Errorf("offset %d, size %v, %v", offset, info.Size(), err)
	}
	stop := errors.New("stop")
	tail := run.Tail(0)
	if err := tail.Next(func(event.Event) error { return stop }); !errors.Is(err, stop) || tail.Offset() == 0 {
		t.Errorf("an error of the function: %v at %d", err, tail.Offset())
	}
	if err := os.Truncate(file.Name(), 10); err != nil {
		t.Fatal(err)
	}
	if err := run.Tail(offset).Next(func(event.Event) error { return nil }); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("a file that was cut: %v", err)
	}
}

// TestOnlyRegularFiles: links that lead out of a run, and named pipes, are not read and block nothing.
func TestOnlyRegularFiles(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte(`{"type":"run.started","provider":"secret"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, place := range map[string]func(path string) error{
		"a link":       func(path string) error { return os.Symlink(outside, path) },
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a directory":  func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		run := journal.Run{ID: "x", Dir: t.TempDir()}
		if err := os.Mkdir(filepath.Join(run.Dir, "logs"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"events.ndjson", "summary.json", "meta.json", "logs/a.log"} {
			if err := place(filepath.Join(run.Dir, file)); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := run.Summary(); err == nil {
			t.Errorf("%s: summary %+v", name, s)
		}
		if m, err := run.Meta(); err == nil {
			t.Errorf("%s: meta %+v", name, m)
		}
		if _, err := run.OpenLog("a"); err == nil {
			t.Errorf("%s: the log is opened", name)
		}
		if err := run.Tail(0).Next(func(event.Event) error { return nil }); err == nil {
			t.Errorf("%s: the tail reads it", name)
		}
	}
}
