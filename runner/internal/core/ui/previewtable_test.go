package ui_test

import (
	"fmt"
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
	const drift = "\naws-eks\n  changed: aws:eks/cluster:Cluster main\n      version: \"1.33\" => \"1.34\"\n      tags: [secret] => [secret]\n" +
		"  gone: aws:rds/instance:Instance db, which holds data\n"
	const lost = "\nWould be lost: 1 resource in 1 project\n  aws-eks\n    - aws:rds/instance:Instance db, which holds data\n"
	const changes = "\nWould change: 1 resource in 1 project\n  aws-eks\n    ~ aws:eks/cluster:Cluster main\n        version: \"1.33\" => \"1.34\"\n"
	const created = "\nWould be created: 1 resource in 1 project\n  aws-eks\n    + aws:iam/role:Role nodes\n"
	const vague = "\nMay change, with values that are not known yet: 1 resource\n  aws-eks 1\n"
	for _, test := range []struct {
		operation operation.Operation
		asked     ui.List
		want, not []string
	}{
		{operation.Drift, ui.Short, []string{drift}, []string{"Would"}},
		{operation.Preview, ui.All, []string{lost, changes, created, "~ aws:eks/addon:Addon dns, in version\n"}, []string{vague}},
		{operation.Preview, ui.Short, []string{lost, changes, vague, created}, []string{"Addon"}},
		{operation.Up, ui.All, nil, []string{"Cluster main"}},
	} {
		got := plain(differing(test.operation), ui.Options{List: test.asked})
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s, list %v: want %q in\n%s", test.operation, test.asked, want, got)
			}
		}
		for _, not := range test.not {
			if strings.Contains(got, not) {
				t.Errorf("%s, list %v: %q in\n%s", test.operation, test.asked, not, got)
			}
		}
	}
}

// TestManyChanges: losses are all listed, and of changes what fits a screen.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	events := rehearsal()
	begin, end := events[:1], events[1:]
	for i := range 50 {
		for _, action := range []event.Action{event.Update, event.Delete} {
			change := event.Event{Type: event.StepProgress, Project: "aws-eks", Action: action, Status: event.ActionDone,
				Resource: event.Resource{Type: "a:b:C", Name: fmt.Sprintf("%s-%d", action, i)}}
			for v := range 10 {
				change.Values = append(change.Values, event.ValueChange{Path: fmt.Sprintf("p%d", v), Action: event.Update, Before: i, After: 2})
			}
			begin = append(begin[:len(begin):len(begin)], change)
		}
	}
	got := plain(append(begin, end...), ui.Options{})
	for text, want := range map[string]int{"- a:b:C": 50, "~ a:b:C": 20, "and 30 resources more; --diff lists all": 1, "and 4 values more": 20} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("%q is there %d times, want %d:\n%s", text, n, want, got)
		}
	}
	if all := plain(append(begin, end...), ui.Options{List: ui.All}); strings.Count(all, "~ a:b:C") != 50 || strings.Contains(all, "more;") {
		t.Errorf("--diff does not list all:\n%s", all)
	}
}

// TestAlike: many new resources are counted by type, and equal changes of one project share a line; --diff lists each.
func TestAlike(t *testing.T) {
	t.Parallel()
	events := rehearsal()
	begin, end := events[:1:1], events[1:]
	for i := range 12 {
		begin = append(begin, event.Event{Type: event.StepProgress, Project: "aws-eks", Action: event.Create, Status: event.ActionDone,
			Resource: event.Resource{Type: "aws:ec2/subnet:Subnet", Name: fmt.Sprintf("subnet-%d", i)}})
	}
	begin = append(begin, event.Event{Type: event.StepProgress, Project: "aws-eks", Action: event.Create, Status: event.ActionDone,
		Resource: event.Resource{Type: "aws:rds/instance:Instance", Name: "main"}, Stateful: true})
	for _, name := range []string{"a", "b", "c", "d"} {
		image := event.ValueChange{Path: "image", Action: event.Update, Before: "app:1", After: "app:2"}
		if name == "d" {
			image.After = "app:3"
		}
		begin = append(begin, event.Event{Type: event.StepProgress, Project: "aws-eks", Action: event.Update, Status: event.ActionDone,
			Resource: event.Resource{Type: "k:D", Name: name}, Values: []event.ValueChange{image}})
	}
	short := plain(append(begin, end...), ui.Options{})
	for _, want := range []string{
		"Would be created: 13 resources in 1 project\n  aws-eks 13: 12 Subnet, Instance main (holds data)\n",
		"~ k:D a and 2 more alike: b, c\n        image: \"app:1\" => \"app:2\"\n    ~ k:D d\n        image: \"app:1\" => \"app:3\"\n",
		"Would change: 4 resources in 1 project\n",
	} {
		if !strings.Contains(short, want) {
			t.Errorf("want %q in\n%s", want, short)
		}
	}
	all := plain(append(begin, end...), ui.Options{List: ui.All})
	for _, want := range []string{"+ aws:ec2/subnet:Subnet subnet-11\n", "~ k:D c\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("--diff: want %q in\n%s", want, all)
		}
	}
}

// TestAlikeInProjects: changes that are equal in several projects are listed once, with the projects; single ones stay
// with theirs, and changed outputs name their readers.
func TestAlikeInProjects(t *testing.T) {
	t.Parallel()
	events := rehearsal()
	begin, end := events[:1:1], events[1:]
	projects := []string{"aws-vpc", "aws-eks", "kubeconfig"}
	for i, project := range projects {
		image := event.ValueChange{Path: "image", Action: event.Update, Before: "app:1", After: "app:2"}
		begin = append(begin, event.Event{Type: event.StepProgress, Project: project, Action: event.Update, Status: event.ActionDone,
			Resource: event.Resource{Type: "k:D", Name: "app"}, Values: []event.ValueChange{image}})
		image.After = fmt.Sprintf("app:%d", 3+i)
		begin = append(begin, event.Event{Type: event.StepProgress, Project: project, Action: event.Update, Status: event.ActionDone,
			Resource: event.Resource{Type: "k:D", Name: "own"}, Values: []event.ValueChange{image}})
	}
	short := plain(append(begin, end...), ui.Options{})
	for _, want := range []string{
		"Would change: 6 resources in 3 projects\n  In 3 projects: ", "    ~ k:D app and 2 more alike\n        image: \"app:1\" => \"app:2\"\n",
		"    ~ k:D own\n        image: \"app:1\" => \"app:5\"\n",
	} {
		if !strings.Contains(short, want) {
			t.Errorf("want %q in\n%s", want, short)
		}
	}
	if n := strings.Count(short, "k:D app"); n != 1 {
		t.Errorf("the joint change is listed %d times", n)
	}
}

// TestFullValues: --full does not cut values and texts, as --diff does.
func TestFullValues(t *testing.T) {
	t.Parallel()
	long, text := strings.Repeat("x", 500), strings.Repeat("line\n", 20)
	events := rehearsal()
	events = append(events[:1:1], append([]event.Event{{
		Type: event.StepProgress, Project: "aws-eks", Action: event.Update, Status: event.ActionDone,
		Resource: event.Resource{Type: "k:D", Name: "a"}, Values: []event.ValueChange{
			{Path: "long", Action: event.Update, Before: "short", After: long},
			{Path: "text", Action: event.Update, Line: 3, Before: "", After: text + "the last line"},
		},
	}}, events[1:]...)...)
	for list, want := range map[ui.List]bool{ui.Short: false, ui.All: false, ui.Full: true} {
		got := plain(events, ui.Options{List: list})
		if strings.Contains(got, long) != want || strings.Contains(got, "the last line") != want {
			t.Errorf("list %v shows all of it: %v, want %v\n%s", list, !want, want, got)
		}
	}
}

// differing returns a run with a resource that differs, and one that is deleted.
func differing(op operation.Operation) []event.Event {
	events := rehearsal()
	events[0].Operation = op
	progress := func(action event.Action, kind, name string, values ...event.ValueChange) event.Event {
		return event.Event{Type: event.StepProgress, Project: "aws-eks", Action: action, Status: event.ActionDone,
			Resource: event.Resource{Type: kind, Name: name}, Values: values}
	}
	addon := progress(event.Update, "aws:eks/addon:Addon", "dns")
	addon.Vague, addon.Properties = true, []string{"version"}
	db := progress(event.Delete, "aws:rds/instance:Instance", "db")
	db.Stateful = true
	return append(events[:1], append([]event.Event{
		progress(event.Update, "aws:eks/cluster:Cluster", "main",
			event.ValueChange{Path: "version", Action: event.Update, Before: "1.33", After: "1.34"},
			event.ValueChange{Path: "tags", Action: event.Update, Before: event.Masked, After: event.Masked}),
		db, progress(event.Create, "aws:iam/role:Role", "nodes"), addon,
	}, events[1:]...)...)
}
