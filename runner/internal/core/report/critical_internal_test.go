package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/needs"
	"mara/runner/internal/core/event"
)

func TestCriticalPath(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 20, 19, 30, 0, 0, time.UTC)
	step := func(name string, from, to int, reads ...string) event.Step {
		s := event.Step{Project: event.Project{Name: name, Needs: needs.Needs{Reads: reads}}, Result: event.Succeeded}
		if to > 0 {
			s.Started, s.Finished = began.Add(time.Duration(from)*time.Second), began.Add(time.Duration(to)*time.Second)
			s.DurationMS = int64(to-from) * 1000
		}
		return s
	}
	skipped := step("late", 0, 0, "b")
	skipped.Result = event.Skipped
	tests := map[string]struct {
		steps []event.Step
		want  []string
	}{
		"nothing":                   {},
		"one":                       {[]event.Step{step("a", 0, 9)}, []string{"a"}},
		"the slower need":           {[]event.Step{step("a", 0, 9), step("b", 0, 50), step("c", 50, 60, "a", "b")}, []string{"b", "c"}},
		"not the last in the plan":  {[]event.Step{step("a", 0, 9), step("b", 9, 80, "a"), step("c", 9, 60, "a")}, []string{"a", "b"}},
		"it waited for a place":     {[]event.Step{step("a", 0, 9), step("b", 0, 50), step("c", 50, 60, "a")}, []string{"b", "c"}},
		"it waited for no project":  {[]event.Step{step("a", 0, 9), step("b", 30, 50)}, []string{"a", "b"}},
		"skipped ones do not count": {[]event.Step{step("a", 0, 9), step("b", 9, 50, "a"), skipped}, []string{"a", "b"}},
		"an unknown need":           {[]event.Step{step("a", 0, 9, "stranger")}, []string{"a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &event.Summary{Started: began, Steps: tt.steps}
			if diff := cmp.Diff(tt.want, criticalPath(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
