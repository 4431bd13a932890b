package journal

import (
	"slices"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/run/event"
)

const (
	// recentRuns is how many runs of an environment are looked at.
	recentRuns = 20
	// recentTimes is how many of a project's durations count.
	recentTimes = 5
)

// DurationQuery asks how long the projects of an environment take.
type DurationQuery struct {
	Environment
	Operation operation.Operation
	// New tells which projects would be made from nothing. For them only runs
	// count that did so, and for the others only runs that did not: an update
	// says little about a creation. Nil lets all runs count.
	New func(project string) bool
}

// Durations returns for each project how long it usually takes: the median of
// the last times it succeeded. Projects without such times are not in it.
func Durations(dir string, q DurationQuery) map[string]time.Duration {
	times := map[string][]time.Duration{}
	for _, s := range recent(dir, q.Environment, q.Operation) {
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
	return medians
}

// counts reports whether the duration of a step says something.
func (q DurationQuery) counts(step event.Step) bool {
	if step.Result != event.Succeeded {
		return false
	}
	return q.New == nil || q.New(step.Name) == step.Changes.IsNew()
}

// Resources returns how many resources each project had after the last time
// that up has succeeded with it. Projects without such a time are not in it.
func Resources(dir string, of Environment) map[string]int {
	resources := map[string]int{}
	for _, s := range recent(dir, of, operation.Up) {
		for _, step := range s.Steps {
			if _, known := resources[step.Name]; !known && step.Result == event.Succeeded {
				resources[step.Name] = step.Changes.Total() - step.Changes.Delete
			}
		}
	}
	return resources
}

// recent returns the last runs of an operation on an environment, the newest
// first. What cannot be read is passed over: estimates need not be complete.
func recent(dir string, of Environment, op operation.Operation) []*event.Summary {
	runs, _ := Summaries(dir)
	var summaries []*event.Summary
	for _, s := range runs {
		if len(summaries) == recentRuns {
			break
		}
		if of.Has(s) && s.Operation == op {
			summaries = append(summaries, s)
		}
	}
	return summaries
}
