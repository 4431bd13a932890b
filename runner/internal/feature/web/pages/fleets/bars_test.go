package fleets

import (
	"testing"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/view"
)

// TestBars: the last twenty runs are drawn, the oldest at the left, with the time of the longest as the full height.
func TestBars(t *testing.T) {
	t.Parallel()
	var runs []*view.Past // the newest first
	for i := range 25 {
		result := event.Succeeded
		if i == 0 {
			result = event.Failed
		}
		runs = append(runs, &view.Past{PastRun: view.PastRun{Stack: "dev", Operation: operation.Up, Result: result,
			DurationMS: int64(1000 * (25 - i)), Started: time.Unix(int64(100-i), 0)}})
	}
	d := fleetPage{Groups: []group{{Rows: []row{{Environment: view.Environment{Name: "dev"}}, {Environment: view.Environment{Name: "new"}}}}}}
	d.addBars(runs)
	bars := d.Groups[0].Rows[0].Bars
	if len(bars) != mostBars || len(d.Groups[0].Rows[1].Bars) != 0 {
		t.Fatalf("%d bars, and %d of an environment without runs", len(bars), len(d.Groups[0].Rows[1].Bars))
	}
	last := bars[mostBars-1]
	if last.Class != "failed" || last.Height != 18 || last.Y != 0 || last.X != 95 || last.Title != "up failed, 25.0s, 1970-01-01 00:01 UTC" {
		t.Errorf("the newest: %+v", last)
	}
	if first := bars[0]; first.Height >= last.Height || first.Y+first.Height != 18 || first.Class != "succeeded" {
		t.Errorf("the oldest: %+v", first)
	}
}
