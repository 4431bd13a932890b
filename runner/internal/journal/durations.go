package journal

import (
	"slices"
	"time"

	"mara/runner/internal/event"
)

const (
	// recentRuns is how many runs of an environment durations are taken from.
	recentRuns = 20
	// recentTimes is how many of a project's durations count.
	recentTimes = 5
)

// DurationQuery asks how long the projects of an environment take.
type DurationQuery struct {
	Environment
	Operation string
	// New tells which projects would be made from nothing. For them only runs
	// count that did so, and for the others only runs that did not: an update
	// says little about a creation. Nil lets all runs count.
	New func(project string) bool
}

// Durations returns for each project how long it usually takes: the median of
// the last times it succeeded. Projects without such times are not in it.
func Durations(dir string, q DurationQuery) (map[string]time.Duration, error) {
	runs, err := List(dir)
	if err != nil {
		return nil, err
	}
	times := map[string][]time.Duration{}
	read := 0
	for _, run := range runs {
		s, err := run.Summary()
		if err != nil || !q.matches(s) { // estimates need not be complete
			continue
		}
		if read++; read > recentRuns {
			break
		}
		for _, step := range s.Steps {
			if name := step.Name; q.counts(step) && len(times[name]) < recentTimes {
				times[name] = append(times[name], step.Duration())
			}
		}
	}
	medians := make(map[string]time.Duration, len(times))
	for name, all := range times {
		slices.Sort(all)
		medians[name] = all[len(all)/2]
	}
	return medians, nil
}

// matches reports whether a run was what is asked about.
func (q DurationQuery) matches(s *event.Summary) bool {
	return s.Provider == q.Provider && s.Stack == q.Stack && s.Operation == q.Operation
}

// counts reports whether the duration of a step says something.
func (q DurationQuery) counts(step event.Step) bool {
	if step.Result != event.Succeeded {
		return false
	}
	c := step.Changes
	fromNothing := c.Create > 0 && c.Total() == c.Create
	return q.New == nil || q.New(step.Name) == fromNothing
}
