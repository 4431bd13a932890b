package operations

import (
	"testing"

	"mara/runner/internal/run/event"
)

// TestUnseen: a screen that has shown the findings of the preview does not repeat
// them, and one that has not shows them.
func TestUnseen(t *testing.T) {
	t.Parallel()
	var shown event.Summary
	shown.Apply(event.Event{Type: event.RunWarning, Message: "another"})
	shown.Apply(event.NewFinding(event.Finding{Rule: "r", Level: event.LevelWarn, Message: "m"}, "policy r: m"))
	found := findingEvents(shown)
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
