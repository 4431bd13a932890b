package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/testing/eventtest"
)

// TestFollow writes a run bit by bit, in the middle of lines too, while it is
// followed.
func TestFollow(t *testing.T) {
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
	wait := func() bool {
		n := min(len(text), 100)
		if _, err := file.Write(text[:n]); err != nil {
			t.Error(err)
		}
		text = text[n:]
		return true
	}
	var got []event.Event
	for e, err := range run.Follow(wait) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if len(got) != len(want) || got[len(got)-1].Type != event.RunFinished {
		t.Errorf("got %d events, want %d", len(got), len(want))
	}
}

func TestFollowEndsWithTheRunner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, start, eventtest.Failure()[:5])
	run, err := journal.Find(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range run.Follow(func() bool { return false }) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 5 {
		t.Errorf("got %d events", n)
	}
}

func TestFollowNothing(t *testing.T) {
	t.Parallel()
	for _, err := range (journal.Run{ID: "x", Dir: t.TempDir()}).Follow(func() bool { return true }) {
		if err == nil || !strings.Contains(err.Error(), "reading run x") {
			t.Errorf("got %v", err)
		}
	}
}

// TestLinesAreThoseOfTheLog holds what is shown of a run that goes on against
// what its logs say in the end.
func TestLinesAreThoseOfTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	events := eventtest.Failure()
	write(t, dir, start, events)
	run, err := journal.Find(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	var lines journal.Lines
	for _, e := range events {
		shown[e.Project] += lines.Line(e)
	}
	names, err := run.Logs()
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		log, err := os.ReadFile(run.LogFile(name))
		if err != nil || string(log) != shown[name] {
			t.Errorf("%s, %v:\n%s\nwant\n%s", name, err, shown[name], log)
		}
	}
	if began := run.Began(); start.Sub(began) >= time.Second || began.After(start) {
		t.Errorf("the run began at %v, its id says %v", start, began)
	}
}
