package engine

import (
	"testing"
	"time"

	"mara/projects/model/needs"
	"mara/runner/internal/core/event"
)

func TestWaited(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	run := &event.Summary{Started: at(10), Steps: []event.Step{
		{Project: event.Project{Name: "a"}, Started: at(10), Finished: at(14)},
		{Project: event.Project{Name: "b"}, Started: at(12), Finished: at(13)},
		{Project: event.Project{Name: "c", Needs: needs.Needs{Reads: []string{"b"}, After: []string{"a"}}}, Started: at(17)},
	}}
	for name, want := range map[string]time.Duration{"a": 0, "b": 2 * time.Second, "c": 3 * time.Second} {
		step, _ := run.Step(name)
		if got := waited(run, *step); got != want {
			t.Errorf("%s waited %s, want %s", name, got, want)
		}
	}
}
