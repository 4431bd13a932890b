package trace

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"mara/runner/internal/core/event"
)

// step adds an event about a project.
func (t *Tracer) step(e event.Event) {
	s := t.steps[e.Project]
	switch {
	case e.Type == event.StepStarted:
		t.beginStep(e)
	case s == nil && e.Type == event.StepFinished: // it never started
		t.note(e)
	case s == nil:
	case e.Type == event.StepProgress:
		t.resource(s, e)
	case e.Type == event.StepLog:
		s.log(e)
	case e.Type == event.StepRetrying:
		s.retry(e)
	case e.Type == event.HookStarted:
		_, s.hooks[e.Hook] = t.tracer.Start(s.ctx, "hook "+e.Hook, trace.WithTimestamp(e.Time))
	case e.Type == event.HookFinished:
		s.endHook(e)
	case e.Type == event.StepFinished:
		s.close(e)
		delete(t.steps, e.Project)
	}
}

func (t *Tracer) beginStep(e event.Event) {
	ctx, s := t.tracer.Start(t.run.ctx, e.Project, trace.WithTimestamp(e.Time),
		trace.WithAttributes(known("mara.project", e.Project, "mara.title", e.Title)...))
	t.steps[e.Project] = &step{
		span: span{Span: s, ctx: ctx}, resources: map[event.Resource]trace.Span{}, hooks: map[string]trace.Span{},
	}
}

// resource begins or ends the span of an operation on a resource. An operation that
// ends without a start, as of an unchanged resource, has a span only if it failed.
func (t *Tracer) resource(s *step, e event.Event) {
	if e.Status == event.ActionStarted {
		s.resources[e.Resource] = t.operation(s, e)
		return
	}
	r, began := s.resources[e.Resource]
	switch {
	case !began && e.Status == event.ActionFailed:
		r = t.operation(s, e)
	case !began:
		return
	}
	delete(s.resources, e.Resource)
	if e.Status == event.ActionFailed {
		r.SetStatus(codes.Error, e.Message)
	}
	r.End(trace.WithTimestamp(e.Time))
}

// operation begins the span of an operation on a resource.
func (t *Tracer) operation(s *step, e event.Event) trace.Span {
	name := string(e.Action) + " " + e.Resource.Type
	_, operation := t.tracer.Start(s.ctx, name, trace.WithTimestamp(e.Time), trace.WithAttributes(
		attribute.String("mara.project", e.Project),
		attribute.String("mara.action", string(e.Action)),
		attribute.String("mara.resource.type", e.Resource.Type),
		attribute.String("mara.resource.name", e.Resource.Name),
	))
	return operation
}

// log adds warnings and errors; the run's directory has the other lines.
func (s *step) log(e event.Event) {
	if e.Severity != event.Warning && e.Severity != event.Error {
		return
	}
	s.AddEvent(string(e.Severity), trace.WithTimestamp(e.Time), trace.WithAttributes(known(
		"message", e.Message, "mara.resource.type", e.Resource.Type, "mara.resource.name", e.Resource.Name)...))
}

// retry ends the open operations of the failed attempt.
func (s *step) retry(e event.Event) {
	s.abandon(e)
	s.AddEvent("retry", trace.WithTimestamp(e.Time), trace.WithAttributes(
		attribute.Int("mara.attempt", e.Attempt), attribute.String("message", e.Error)))
}

// abandon ends the operations that have reported no end.
func (s *step) abandon(e event.Event) {
	for r, open := range s.resources {
		open.SetStatus(codes.Error, "did not end")
		open.End(trace.WithTimestamp(e.Time))
		delete(s.resources, r)
	}
}

func (s *step) endHook(e event.Event) {
	if hook, ok := s.hooks[e.Hook]; ok {
		finish(hook, e)
		delete(s.hooks, e.Hook)
	}
}

// close ends the span of the project.
func (s *step) close(e event.Event) {
	s.abandon(e)
	for name := range s.hooks {
		s.endHook(event.Event{Time: e.Time, Hook: name, Result: event.Interrupted})
	}
	if e.Attempt > 1 {
		s.SetAttributes(attribute.Int("mara.attempts", e.Attempt))
	}
	finish(s, e)
}
