// Package uitest plays runs that never happened, with their resources and
// times, for the tests of what shows runs. It complements eventtest, whose
// recorded runs are short.
package uitest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

// Project is a project of a played run.
type Project struct {
	event.Project
	Resources []Resource
	// Fails is the message with which the last resource fails; empty lets it
	// succeed.
	Fails string
	// Warns is a warning that comes in the middle; empty gives none.
	Warns string
	// Hook runs at the end.
	Hook string
}

// Resource is a resource of a played project.
type Resource struct {
	event.Resource
	Takes time.Duration
}

// Script is a run to play.
type Script struct {
	Operation operation.Operation
	Provider  string
	Simulated bool
	Parallel  int
	Projects  []Project
	// Interrupt is when the user interrupts; zero never does.
	Interrupt time.Duration
}

// Began is when every played run begins.
var Began = time.Date(2026, 11, 20, 19, 30, 0, 0, time.UTC)

// Play returns the events of the run, in order. Of the projects that can start,
// the one that can start first does.
func Play(s Script) []event.Event {
	p := &player{script: s, ends: map[string]ending{}}
	places := make([]time.Duration, s.Parallel)
	for left := slices.Clone(s.Projects); len(left) > 0; {
		next := slices.IndexFunc(left, p.ready)
		for i, project := range left {
			if p.ready(project) && p.earliest(project) < p.earliest(left[next]) {
				next = i
			}
		}
		at := slices.Index(places, slices.Min(places))
		places[at] = p.project(left[next], places[at])
		left = slices.Delete(left, next, next+1)
	}
	slices.SortStableFunc(p.events, func(a, b event.Event) int { return a.Time.Compare(b.Time) })
	return p.finish()
}

// ready says that everything a project needs has ended.
func (p *player) ready(project Project) bool {
	return !slices.ContainsFunc(project.All(), func(need string) bool {
		_, ended := p.ends[need]
		return !ended
	})
}

// earliest returns when the last need of a project ended.
func (p *player) earliest(project Project) time.Duration {
	var at time.Duration
	for _, need := range project.All() {
		at = max(at, p.ends[need].at)
	}
	return at
}

// ending is when and how a project ended.
type ending struct {
	at     time.Duration
	result event.Result
	causes []string
}

type player struct {
	script  Script
	events  []event.Event
	ends    map[string]ending
	stopped time.Duration // when a failure stopped the run
	reason  string
}

// project plays a project in a place, and returns when that is free again.
func (p *player) project(project Project, free time.Duration) time.Duration {
	at, blocked := max(free, p.earliest(project)), ending{}
	for _, need := range project.All() {
		if end := p.ends[need]; end.result != event.Succeeded {
			blocked = end
		}
	}
	if reason, result := p.refusal(at, blocked); reason != "" {
		p.ends[project.Name] = ending{at: at, result: result, causes: blocked.causes}
		p.add(at, event.Event{Type: event.StepFinished, Project: project.Name, Title: project.Title, Result: result,
			Reason: reason, Causes: blocked.causes, Changes: &event.Changes{}})
		return free
	}
	end := p.run(project, at)
	p.ends[project.Name] = end
	return end.at
}

// refusal returns why a project that could start at a time does not.
func (p *player) refusal(at time.Duration, blocked ending) (string, event.Result) {
	switch {
	case p.script.Interrupt > 0 && at >= p.script.Interrupt:
		return event.ReasonInterrupted, event.Cancelled
	case blocked.causes != nil:
		return blocked.causes[0] + " failed", event.Skipped
	case p.stopped > 0 && at >= p.stopped:
		return "stopped after " + p.reason, event.Skipped
	default:
		return "", ""
	}
}

// run plays what a project does.
func (p *player) run(project Project, at time.Duration) ending {
	began, counts := at, event.Changes{}
	emit := func(e event.Event) {
		e.Project, e.Title = project.Name, project.Title
		p.add(at, e)
	}
	emit(event.Event{Type: event.StepStarted})
	for i, r := range project.Resources {
		emit(event.Event{Type: event.StepProgress, Resource: r.Resource, Action: event.Create, Status: event.ActionStarted,
			Counts: &event.Changes{Create: counts.Create}})
		at += r.Takes
		if i == len(project.Resources)/2 && project.Warns != "" {
			emit(event.Event{Type: event.StepLog, Severity: event.Warning, Message: project.Warns, Resource: r.Resource})
		}
		if i == len(project.Resources)-1 && project.Fails != "" {
			emit(event.Event{Type: event.StepProgress, Resource: r.Resource, Action: event.Create, Status: event.ActionFailed,
				Counts: &event.Changes{Create: counts.Create}, Message: project.Fails})
			emit(event.Event{Type: event.StepLog, Severity: event.Error, Message: project.Fails, Resource: r.Resource})
			emit(event.Event{Type: event.StepFinished, Result: event.Failed, Changes: &counts,
				DurationMS: (at - began).Milliseconds(), Error: "1 resource failed"})
			p.stopped, p.reason = at, project.Name+" failed"
			emit(event.Event{Type: event.RunStopping, Reason: p.reason})
			return ending{at: at, result: event.Failed, causes: []string{project.Name}}
		}
		counts.Create++
		emit(event.Event{Type: event.StepProgress, Resource: r.Resource, Action: event.Create, Status: event.ActionDone,
			Counts: &event.Changes{Create: counts.Create}})
	}
	if project.Hook != "" {
		emit(event.Event{Type: event.HookStarted, Hook: project.Hook})
		at += 200 * time.Millisecond
		emit(event.Event{Type: event.HookFinished, Hook: project.Hook, Result: event.Succeeded, DurationMS: 200})
	}
	emit(event.Event{Type: event.StepFinished, Result: event.Succeeded, Changes: &counts,
		DurationMS: (at - began).Milliseconds()})
	return ending{at: at, result: event.Succeeded}
}

func (p *player) add(at time.Duration, e event.Event) {
	e.Time = Began.Add(at)
	p.events = append(p.events, e)
}

// finish adds the events of the run, and what is known only then.
func (p *player) finish() []event.Event {
	header := event.Event{Time: Began, Type: event.RunStarted, Format: event.Format, Operation: p.script.Operation,
		Provider: p.script.Provider,
		Stack:    "dev", Simulated: p.script.Simulated, Parallel: p.script.Parallel}
	for _, p := range p.script.Projects {
		header.Projects = append(header.Projects, p.Project)
	}
	all := append([]event.Event{header}, p.events...)
	if p.script.Interrupt > 0 {
		stop := event.Event{Time: Began.Add(p.script.Interrupt), Type: event.RunStopping, Reason: event.ReasonInterrupted}
		at, _ := slices.BinarySearchFunc(all, stop, func(a, b event.Event) int { return cmp.Or(a.Time.Compare(b.Time), 1) })
		all = slices.Insert(all, at, stop)
	}
	var s event.Summary
	for i := range all {
		all[i].Run = "20261120-193000-000abc"
		s.Apply(all[i])
		if all[i].Type == event.RunStopping {
			all[i].Waiting = s.Running()
		}
	}
	last := all[len(all)-1].Time
	return append(all, event.Event{Time: last, Run: all[0].Run, Type: event.RunFinished, Result: s.Results.Outcome(),
		DurationMS: last.Sub(Began).Milliseconds(), Results: &s.Results, Changes: &s.Changes})
}

// Wide returns a run of many projects with many resources, 20 at a time.
func Wide(projects, resources int) []event.Event {
	s := Script{Operation: operation.Up, Provider: "aws", Parallel: 20}
	for i := range projects {
		p := Project{Project: event.Project{Name: fmt.Sprintf("service-%03d", i), Title: fmt.Sprintf("Service %d", i)}}
		for _, step := range []int{1, 7} {
			if i >= 10*step {
				p.Reads = append(p.Reads, fmt.Sprintf("service-%03d", i-10*step))
			}
		}
		for r := range resources / projects {
			p.Resources = append(p.Resources, resource("kubernetes:core/v1:ConfigMap", fmt.Sprintf("item-%d", r),
				400*time.Millisecond))
		}
		s.Projects = append(s.Projects, p)
	}
	return Play(s)
}

func resource(kind, name string, takes time.Duration) Resource {
	return Resource{Resource: event.Resource{Type: kind, Name: name}, Takes: takes}
}
