package journal

import (
	"slices"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

const (
	// recentRuns is how many runs of an environment are looked at.
	recentRuns = 20
	// recentTimes is how many of a project's durations count.
	recentTimes = 5
)

// Past are the last runs of an operation on an environment, the newest first.
type Past []*event.Summary

// Recent reads the last runs of an operation on an environment. What cannot be read is passed over: estimates need
// not be complete.
func Recent(dir string, of Environment, op operation.Operation) Past {
	runs, _ := Summaries(dir)
	var past Past
	for _, s := range runs {
		if len(past) == recentRuns {
			break
		}
		if of.Has(s) && s.Operation == op {
			past = append(past, s)
		}
	}
	return past
}

// Durations returns for each project how long it usually takes: the median of the last times it succeeded. Projects
// without such times are not in it. isNew reports whether a project would be made from nothing: for such projects only
// runs count that did so, and for the others only runs that did not, because an update says little about a creation.
// Nil lets all runs count.
func (p Past) Durations(isNew func(project string) bool) map[string]time.Duration {
	times := map[string][]time.Duration{}
	for _, s := range p {
		for _, step := range s.Steps {
			counts := step.Result == event.Succeeded && (isNew == nil || isNew(step.Name) == step.Changes.IsNew())
			if counts && len(times[step.Name]) < recentTimes {
				times[step.Name] = append(times[step.Name], step.Duration())
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

// Resources returns how many resources each project had after the last run, an up, that has succeeded with it. Projects
// without such a run are not in it.
func (p Past) Resources() map[string]int {
	resources := map[string]int{}
	for _, s := range p {
		for _, step := range s.Steps {
			if _, known := resources[step.Name]; !known && step.Result == event.Succeeded {
				resources[step.Name] = step.Changes.Total() - step.Changes.Delete
			}
		}
	}
	return resources
}
