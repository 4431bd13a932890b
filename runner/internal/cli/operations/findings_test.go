package operations

import (
	"testing"

	"mara/runner/internal/event"
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
	for skip, want := range map[bool]int{true: 0, false: 1} {
		var screen event.Summary
		(&unseen{Sink: &screen, skip: skip}).Emit(found[0])
		if len(screen.Warnings) != want {
			t.Errorf("skip %t: %d warnings", skip, len(screen.Warnings))
		}
	}
}
