package relay

import (
	"os"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/report"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/testing/cmdtest"
)

// TestAJournalThatCannotBeCompletedIsTold: the summary is written at the end,
// where a disk may have become full.
func TestAJournalThatCannotBeCompletedIsTold(t *testing.T) {
	t.Parallel()
	d, _, stderr := cmdtest.Deps(t)
	j, err := journal.Create(journal.Options{Dir: t.TempDir(), ID: journal.NewID(d.Now())})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(j.Dir()); err != nil {
		t.Fatal(err)
	}
	r := &Relay{
		Screen: ui.NewPlain(d.Stdout, ui.Options{}), d: d.Deps, view: View{Stdout: d.Stdout},
		journal: j, collector: report.NewCollector(), emitter: event.NewEmitter(event.EmitterOptions{Now: d.Now}),
	}
	r.Finish()
	if !strings.Contains(stderr.String(), "warning: the journal of this run is incomplete: ") {
		t.Errorf("it says %q", stderr)
	}
}

// them, and one that has not shows them.
// TestUnseen: a screen that has shown the findings of the preview does not repeat
// them, and one that has not shows them.
func TestUnseen(t *testing.T) {
	t.Parallel()
	var shown event.Summary
	shown.Apply(event.Event{Type: event.RunWarning, Message: "another"})
	shown.Apply(event.NewFinding(event.Finding{Rule: "r", Level: event.LevelWarn, Message: "m"}, "policy r: m"))
	found := FindingEvents(shown)
	if len(found) != 1 || found[0].Message != "policy r: m" || found[0].Finding.Rule != "r" {
		t.Fatalf("%+v", found)
	}
	for skip, want := range map[int]int{0: 2, 1: 1, 2: 0} {
		var screen event.Summary
		sink := &unseen{Sink: &screen, skip: skip}
		sink.Emit(found[0])
		sink.Emit(found[0]) // such as one of a second preview
		if len(screen.Warnings) != want {
			t.Errorf("skip %d: %d warnings", skip, len(screen.Warnings))
		}
	}
}
