package ui_test

import (
	"strings"
	"testing"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/ui"
)

// rehearsal returns a preview with every kind of outcome.
func rehearsal() []event.Event {
	finish := func(name string, result event.Result, changes event.Changes, unknown ...string) event.Event {
		return event.Event{Type: event.StepFinished, Project: name, Result: result, Changes: &changes, Unknown: unknown}
	}
	skipped := finish("secrets", event.Skipped, event.Changes{})
	skipped.Reason = "kubeconfig failed"
	return []event.Event{
		{Type: event.RunStarted, Operation: operation.Preview, Provider: "aws", Stack: "dev", Parallel: 4, Projects: []event.Project{
			{Name: "aws-vpc"}, {Name: "aws-eks"}, {Name: "aws-ecr"}, {Name: "kubeconfig"}, {Name: "secrets"}}},
		finish("aws-vpc", event.Succeeded, event.Changes{Replace: 1, Same: 12}),
		finish("aws-eks", event.Succeeded, event.Changes{Create: 3, Update: 1}, "aws-vpc"),
		finish("aws-ecr", event.Succeeded, event.Changes{Delete: 2}),
		finish("kubeconfig", event.Failed, event.Changes{}),
		skipped,
		{Type: event.RunFinished, Result: event.Failed, Results: &event.Results{}},
	}
}

func TestPreviewTable(t *testing.T) {
	t.Parallel()
	got := plain(rehearsal(), ui.Options{})
	for _, want := range []string{
		"   PROJECT     CREATE  UPDATE  REPLACE  DELETE  SAME  PREVIEW\n",
		"!  aws-vpc     -       -       1        -       12    complete\n",
		"   aws-eks     3       1       -        -       -     partial: aws-vpc\n",
		"!  aws-ecr     -       -       -        2       -     complete\n",
		"   kubeconfig  -       -       -        -       -     failed\n",
		"   secrets     -       -       -        -       -     skipped, kubeconfig failed\n",
		"\n! resources would be replaced or deleted\npartial: more may change once the outputs of the named projects are known\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	few := plain(append(rehearsal()[:1:1], rehearsal()[2], rehearsal()[6]), ui.Options{Width: 80})
	if want := "PROJECT     CREATE  UPDATE  PREVIEW\n"; !strings.Contains(few, want) {
		t.Errorf("there is no %q in\n%s", want, few)
	}
	if narrow := plain(rehearsal(), ui.Options{Width: 50}); !strings.Contains(narrow, "aws-vpc     ±1          complete") {
		t.Errorf("on a narrow screen:\n%s", narrow)
	}
}

func TestDifferencesAreListed(t *testing.T) {
	t.Parallel()
	const drift = " (aws-eks)\n  changed: aws:eks/cluster:Cluster main, in version, tags\n  gone: aws:iam/role:Role nodes\n"
	const diff = " (aws-eks)\n  to update: aws:eks/cluster:Cluster main, in version, tags\n  to delete: aws:iam/role:Role nodes\n"
	for _, test := range []struct {
		operation operation.Operation
		asked     bool
		want      string
	}{
		{operation.Drift, false, drift},
		{operation.Preview, true, diff},
		{operation.Preview, false, ""},
		{operation.Up, true, ""},
	} {
		got := plain(differing(test.operation), ui.Options{Diff: test.asked})
		if !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "Cluster main") {
			t.Errorf("%s, asked %v: want %q in\n%s", test.operation, test.asked, test.want, got)
		}
	}
}

// differing returns a run with a resource that differs, and one that is deleted.
func differing(op operation.Operation) []event.Event {
	events := rehearsal()
	events[0].Operation = op
	return append(events[:1], append([]event.Event{
		{Type: event.StepProgress, Project: "aws-eks", Action: event.Update, Status: event.ActionDone,
			Resource: event.Resource{Type: "aws:eks/cluster:Cluster", Name: "main"}, Properties: []string{"version", "tags"}},
		{Type: event.StepProgress, Project: "aws-eks", Action: event.Delete, Status: event.ActionDone,
			Resource: event.Resource{Type: "aws:iam/role:Role", Name: "nodes"}},
	}, events[1:]...)...)
}
