package journal_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/testing/eventtest"
)

func record(t *testing.T, dir string, now time.Time, events []event.Event) journal.Run {
	t.Helper()
	j, err := journal.Create(journal.Options{Dir: dir, ID: journal.NewID(now)})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		j.Emit(e)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return journal.Run{ID: j.ID(), Dir: j.Dir()}
}

func TestEventsComeBack(t *testing.T) {
	t.Parallel()
	recorded := eventtest.Failure()
	run := record(t, t.TempDir(), time.Now(), recorded)
	var read []event.Event
	for e, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, e)
	}
	if diff := cmp.Diff(recorded, read); diff != "" {
		t.Error(diff)
	}
	logs, err := run.Logs()
	if err != nil || len(logs) == 0 {
		t.Fatalf("Logs = %v, %v", logs, err)
	}
	for _, project := range logs {
		if _, err := os.Stat(run.LogFile(project)); err != nil {
			t.Error(err)
		}
	}
}

func TestEventsOfAMissingRun(t *testing.T) {
	t.Parallel()
	for _, err := range (journal.Run{ID: "x", Dir: t.TempDir()}).Events() {
		if err == nil {
			t.Error("a run without events has one")
		}
		return
	}
	t.Error("nothing was said about the missing events")
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := journal.Find(dir, ""); !noRun(err) {
		t.Errorf("in an empty directory: %v", err)
	}
	older := record(t, dir, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), eventtest.Success())
	newer := record(t, dir, time.Date(2026, 1, 3, 3, 4, 5, 0, time.UTC), eventtest.Failure())
	for _, test := range []struct {
		id   string
		want journal.Run
		ok   bool
	}{
		{"", newer, true},
		{older.ID, older, true},
		{"20260102", older, true},
		{"2026010", journal.Run{}, false},
		{"1999", journal.Run{}, false},
	} {
		got, err := journal.Find(dir, test.id)
		if test.ok && (err != nil || got != test.want) || !test.ok && !noRun(err) {
			t.Errorf("Find(%q) = %v, %v; want %v", test.id, got, err, test.want)
		}
	}
}

func noRun(err error) bool {
	var none *failure.Usage
	return errors.As(err, &none) && none.NextStep() != ""
}
