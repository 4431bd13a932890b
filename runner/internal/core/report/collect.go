package report

import (
	"fmt"
	"iter"
	"maps"
	"strings"
	"time"

	"mara/runner/internal/core/event"
)

// What is kept of one project, so that a page stays small whatever a run does.
const (
	mostResources = 200
	mostLogBytes  = 24 << 10
)

// Details is what a page shows of a run beyond its summary, by project.
type Details struct {
	Resources map[string]Resources
	Logs      map[string]Log
	Outputs   map[string][]Output
	Before    map[string]time.Duration // how long a project took the last time; none if that is not known
}

// Resources are those of a project that something happened to.
type Resources struct {
	List []Resource
	// More is how many others there were.
	More int
}

// Resource is what happened to a resource.
type Resource struct {
	event.Resource
	Action event.Action
	Status event.Status
	// Took is zero if the beginning is not known.
	Took    time.Duration
	Message string // if it failed
}

// Log is what was reported about a project, the last part of it.
type Log struct {
	Text string
	// Cut says that the beginning is missing.
	Cut bool
}

// Output is an output of a project. The value of a secret one is not shown,
// whatever it is.
type Output struct {
	Name, Value string
	Secret      bool
}

// Collector gathers details. It is an event.Sink.
type Collector struct {
	details Details
	started map[resourceKey]time.Time
}

type resourceKey struct {
	project  string
	resource event.Resource
}

// NewCollector returns a collector that has seen nothing.
func NewCollector() *Collector {
	return &Collector{
		details: Details{Resources: map[string]Resources{}, Logs: map[string]Log{}, Outputs: map[string][]Output{}},
		started: map[resourceKey]time.Time{},
	}
}

// Collect folds a stream of events into summary and details. At an error of the
// stream it returns what it has seen until then, with the error.
func Collect(events iter.Seq2[event.Event, error]) (*event.Summary, Details, error) {
	s, c := &event.Summary{}, NewCollector()
	for e, err := range events {
		if err != nil {
			return s, c.Details(), err
		}
		s.Apply(e)
		c.Emit(e)
	}
	return s, c.Details(), nil
}

// Details returns what has been gathered. The caller may add outputs.
func (c *Collector) Details() Details { return c.details }

// Clone returns a copy that further events do not change.
func (d Details) Clone() Details {
	return Details{Resources: maps.Clone(d.Resources), Logs: maps.Clone(d.Logs), Outputs: maps.Clone(d.Outputs),
		Before: maps.Clone(d.Before)}
}

// Emit takes note of an event.
func (c *Collector) Emit(e event.Event) {
	switch e.Type {
	case event.StepProgress:
		c.progress(e)
	case event.StepLog:
		if e.Severity != event.Debug {
			c.log(e, strings.TrimSpace(fmt.Sprintf("%s %s", e.Severity, e.Resource)), e.Message)
		}
	case event.RunWarning:
		c.log(e, string(event.Warning), e.Message)
	case event.StepRetrying:
		c.log(e, fmt.Sprintf("attempt %d in %s", e.Attempt, event.FormatDuration(e.Wait())), e.Error)
	case event.HookFinished:
		c.log(e, "hook "+e.Hook+" "+string(e.Result), e.Error)
	}
}

func (c *Collector) progress(e event.Event) {
	key := resourceKey{e.Project, e.Resource}
	if e.Status == event.ActionStarted {
		c.started[key] = e.Time
		return
	}
	began, known := c.started[key]
	delete(c.started, key)
	if e.Action == event.Same {
		return
	}
	r := Resource{Resource: e.Resource, Action: e.Action, Status: e.Status, Message: e.Message}
	if known {
		r.Took = e.Time.Sub(began)
	}
	all := c.details.Resources[e.Project]
	if len(all.List) == mostResources && r.Status != event.ActionFailed {
		all.More++
	} else {
		all.List = append(all.List, r)
	}
	c.details.Resources[e.Project] = all
}

// log appends an entry and drops the oldest ones when there is too much.
func (c *Collector) log(e event.Event, what, message string) {
	if e.Project == "" {
		return
	}
	text := e.Time.UTC().Format("15:04:05") + " " + what
	if message != "" {
		text += ": " + strings.ReplaceAll(message, "\n", "\n         ")
	}
	all := c.details.Logs[e.Project]
	all.Text += text + "\n"
	if over := len(all.Text) - mostLogBytes; over > 0 {
		all.Cut = true
		all.Text = all.Text[over:]
		_, all.Text, _ = strings.Cut(all.Text, "\n") // not from the middle of a line
	}
	c.details.Logs[e.Project] = all
}
