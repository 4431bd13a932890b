package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/needs"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/view"
	"mara/runner/internal/testing/webtest"
)

// TestNews: what has changed, with the value of now and with what a preview has seen; what has drifted; whom it reaches,
// and which outputs flow.
func TestNews(t *testing.T) {
	t.Parallel()
	root, at := webtest.Root(t)
	reader := webtest.NewReader(t, root, at)
	webtest.Read(t, reader)
	volume := event.Resource{Type: "kubernetes:core/v1:PersistentVolumeClaim", Name: "data"}
	grown := []event.ValueChange{{Path: "spec.size", Action: event.Update, Before: "10Gi", After: "20Gi"}}
	preview := previewed(t, reader, at, event.Event{Project: "logstore", Action: event.Update, Resource: volume, Values: grown})

	contents := view.Contents{
		Steps: []event.Project{
			{Name: "logstore"}, {Name: "certmgr"}, {Name: "shop", Needs: needs.Needs{Reads: []string{"logstore"}}},
			{Name: "mail", Needs: needs.Needs{After: []string{"logstore"}}},
		},
		Projects: map[string]view.ProjectContents{
			"logstore": {Outputs: map[string]any{"port": 9200.0, "address": "https://user:hunter2@logs.example"}},
			"shop":     {Outputs: map[string]any{"url": "nobody reads it"}},
		},
	}
	drift := &record.Drift{Projects: []record.ProjectDrift{{Name: "certmgr", Differences: []event.Difference{
		{Action: event.Delete, Resource: event.Resource{Name: "issuer"}}, {Action: event.Update, Resource: volume, Values: grown},
	}}}}
	changed := map[string][]string{"logstore": {"logstore:storage_size", "program of logstore"}}
	const now, seen = "logstore:storage_size, now 20Gi", `a preview would update data: spec.size: "10Gi" => "20Gi"`
	flows := plan.News{Flows: []string{"address = https://user:***@logs.example", "port = 9200"}}
	for name, test := range map[string]struct {
		e    view.Environment
		want map[string]plan.News
	}{
		"nothing": {view.Environment{}, map[string]plan.News{"logstore": flows}},
		"changed": {view.Environment{Verdict: record.Verdict{Of: changed}}, map[string]plan.News{
			"logstore": {Changed: []string{now, "program of logstore"}, Flows: flows.Flows}, "shop": {Because: []string{"logstore"}},
		}},
		"changed and previewed": {view.Environment{Verdict: record.Verdict{Of: changed}, Lately: view.Lately{Preview: preview}}, map[string]plan.News{
			"logstore": {Changed: []string{now, "program of logstore", seen}, Flows: flows.Flows}, "shop": {Because: []string{"logstore"}},
		}},
		"written after the preview": {
			view.Environment{Verdict: record.Verdict{Of: changed}, Lately: view.Lately{Preview: preview, Write: &view.Past{PastRun: view.PastRun{Started: preview.Started.Add(time.Second)}}}},
			map[string]plan.News{"logstore": {Changed: []string{now, "program of logstore"}, Flows: flows.Flows}, "shop": {Because: []string{"logstore"}}},
		},
		"previewed, and nothing changed": {view.Environment{Lately: view.Lately{Preview: preview}}, map[string]plan.News{"logstore": flows}},
		"drifted": {view.Environment{Drift: drift}, map[string]plan.News{
			"logstore": flows, "certmgr": {Drifted: []string{"gone issuer", `changed data: spec.size: "10Gi" => "20Gi"`}},
		}},
		"drifted, and written since": {view.Environment{Drift: &record.Drift{Void: true, Projects: drift.Projects}}, map[string]plan.News{"logstore": flows}},
	} {
		test.e.Name = "us"
		got := reader.News(test.e, contents)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if !cmp.Equal(changed["logstore"], []string{"logstore:storage_size", "program of logstore"}) {
		t.Errorf("the verdict itself has changed: %q", strings.Join(changed["logstore"], ", "))
	}
}

// previewed writes a preview of the environment us that has seen a difference.
func previewed(t *testing.T, reader *view.Reader, at time.Time, difference event.Event) *view.Past {
	t.Helper()
	at = at.Add(time.Minute)
	id := journal.NewID(at)
	j, err := journal.Create(journal.Options{Dir: reader.Options().Directory().Runs(), ID: id,
		Meta: journal.Meta{Environment: journal.Environment{Provider: "kind", Stack: "us"}}})
	if err != nil {
		t.Fatal(err)
	}
	difference.Type, difference.Status = event.StepProgress, event.ActionDone
	for _, e := range []event.Event{
		{Type: event.RunStarted, Operation: operation.Preview, Provider: "kind", Stack: "us", Projects: []event.Project{{Name: difference.Project}}},
		{Type: event.StepStarted, Project: difference.Project}, difference,
		{Type: event.StepFinished, Project: difference.Project, Result: event.Succeeded, Changes: &event.Changes{Update: 1}},
		{Type: event.RunFinished, Result: event.Succeeded, Results: &event.Results{}, Changes: &event.Changes{}},
	} {
		e.Time, e.Run = at, id
		j.Emit(e)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Look(); err != nil {
		t.Fatal(err)
	}
	return reader.Runs.Find(id)
}
