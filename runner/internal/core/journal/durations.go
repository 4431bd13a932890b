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

// recentBefore is how many runs are looked at for what took how long before.
const recentBefore = 5

// TimesBefore returns how long each project of a run took in the last run before it, of the same operation on the same
// environment, in which it succeeded and did the like: a first creation says nothing about an update.
func (p Past) TimesBefore(run *event.Summary) map[string]time.Duration {
	times, looked := map[string]time.Duration{}, 0
	for _, s := range p {
		same := s.Stack == run.Stack && s.Operation == run.Operation && s.Started.Before(run.Started)
		if !same || s.Result == "" || looked == recentBefore {
			continue
		}
		looked++
		for _, step := range s.Steps {
			now, _ := run.Step(step.Name)
			_, known := times[step.Name]
			if now != nil && !known && step.Ran() && step.Result == event.Succeeded && step.Changes.IsNew() == now.Changes.IsNew() {
				times[step.Name] = step.Duration()
			}
		}
	}
	return times
}

// TimesBefore looks for the times of the last runs before one in the directory that it is in.
func TimesBefore(dir string, run *event.Summary) map[string]time.Duration {
	if !slices.ContainsFunc(run.Steps, event.Step.Ran) {
		return nil
	}
	return Recent(dir, Environment{Provider: run.Provider, Stack: run.Stack}, run.Operation).TimesBefore(run)
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
