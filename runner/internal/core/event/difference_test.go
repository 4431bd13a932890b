package event_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	resource := event.Resource{Type: "kubernetes:core/v1:Secret", Name: "token"}
	progress := func(action event.Action, status event.Status, properties ...string) event.Event {
		return event.Event{Type: event.StepProgress, Project: "vpc", Resource: resource, Action: action, Status: status, Properties: properties}
	}
	stream := []event.Event{
		progress(event.Update, event.ActionStarted),
		progress(event.Update, event.ActionDone, "data"),
		progress(event.Same, event.ActionDone),
		progress(event.Reload, event.ActionDone),
		progress(event.Delete, event.ActionDone),
		{Type: event.StepFinished, Project: "vpc", Result: event.Succeeded, Unknown: []string{"eks"}},
	}
	want := []event.Difference{
		{Resource: resource, Action: event.Update, Properties: []string{"data"}},
		{Resource: resource, Action: event.Delete},
	}
	for op, want := range map[operation.Operation][]event.Difference{operation.Drift: want, operation.Preview: want, operation.Up: nil} {
		s := &event.Summary{}
		s.Apply(event.Event{Type: event.RunStarted, Operation: op, Projects: []event.Project{{Name: "vpc"}}})
		for _, e := range stream {
			s.Apply(e)
		}
		step, _ := s.Step("vpc")
		if diff := cmp.Diff(want, step.Differences); diff != "" {
			t.Errorf("%s:\n%s", op, diff)
		}
		if diff := cmp.Diff([]string{"eks"}, step.Unknown); diff != "" {
			t.Errorf("%s:\n%s", op, diff)
		}
	}
}
