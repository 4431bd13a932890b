package report

import (
	"slices"
	"time"

	"mara/runner/internal/core/event"
)

// criticalPath returns the projects that decided how long the run took, in
// order: each began when the one before it was done. It goes backwards from
// the project that ended last, to the last of those it needed, or, if it began
// later than that, to the one that made room for it.
func criticalPath(s *event.Summary) []string {
	at := lastEnded(s.Steps, time.Time{})
	var path []string
	for at != nil && !slices.Contains(path, at.Name) {
		path = append(path, at.Name)
		at = before(s, at)
	}
	slices.Reverse(path)
	return path
}

// before returns the step that a step had to wait for, or nil.
func before(s *event.Summary, step *event.Step) *event.Step {
	var needs []event.Step
	for _, name := range step.All() {
		if need, _ := s.Step(name); need != nil {
			needs = append(needs, *need)
		}
	}
	needed := lastEnded(needs, time.Time{})
	slack := max(s.Duration()/100, time.Second)
	from := s.Started
	if needed != nil {
		from = needed.Finished
	}
	if step.Started.Sub(from) <= slack {
		return needed
	}
	if place := lastEnded(s.Steps, step.Started); place != nil && place.Finished.After(from) {
		return place
	}
	return needed
}

// lastEnded returns the step that ended last, of the steps that did something and ended by
// a time, if one is given.
func lastEnded(steps []event.Step, by time.Time) *event.Step {
	var last *event.Step
	for i, s := range steps {
		late := !by.IsZero() && s.Finished.After(by)
		if !s.Ran() || s.Finished.IsZero() || late {
			continue
		}
		if last == nil || s.Finished.After(last.Finished) {
			last = &steps[i]
		}
	}
	return last
}
