package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/report"
)

// rollout returns a rollout of two waves that stands at the gate between them.
func rollout(began time.Time) *event.Summary {
	s := &event.Summary{}
	project := func(name, title string) event.Project { return event.Project{Name: name, Title: title} }
	gate := event.WavePrefix + "test"
	for i, e := range []event.Event{
		{Type: event.RunStarted, Operation: operation.Up, Fleet: true, Projects: []event.Project{
			project("dev", "Wave test"), project("qa", "Wave test"), project(gate, "Wave test"), project("prod-<eu>", "Wave prod"), project("prod-us", "Wave prod"),
		}},
		{Type: event.StepStarted, Project: "dev"}, {Type: event.StepStarted, Project: "qa"},
		{Type: event.StepFinished, Project: "dev", Result: event.Succeeded, DurationMS: 49_000, Changes: &event.Changes{Create: 2}},
		{Type: event.StepFinished, Project: "qa", Result: event.Skipped, Unchanged: "20261120-1", Reason: "unchanged", Changes: &event.Changes{}},
		{Type: event.StepStarted, Project: gate}, {Type: event.HookStarted, Project: gate, Hook: "soak 10s"},
		{Type: event.HookFinished, Project: gate, Hook: "soak 10s", Result: event.Succeeded, DurationMS: 10_000},
		{Type: event.HookStarted, Project: gate, Hook: "drift"},
	} {
		e.Time = began.Add(time.Duration(i) * 10 * time.Second)
		s.Apply(e)
	}
	return s
}

// TestColumns: each wave is a column with its environments by name, how many are done, and what holds the next wave.
func TestColumns(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	page := report.NewPage(rollout(began), report.Details{})
	got := page.Columns(func(row report.Row) report.Card { return report.Card{Name: row.Name, Is: string(row.Step.Result)} }, began.Add(2*time.Minute))
	want := []report.Column{
		{
			Wave: "test", Done: 2, Cards: []report.Card{{Name: "dev", Is: "succeeded"}, {Name: "qa", Is: "skipped"}},
			After: []report.Pause{{Text: "soak 10s", Is: "succeeded", Class: "succeeded"}, {Text: "drift", Is: "for 40.0s", Class: "running"}},
		},
		{Wave: "prod", Cards: []report.Card{{Name: "prod-<eu>"}, {Name: "prod-us"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRolloutHasNames: board, timeline, critical path and picture of a rollout's report name its environments, not their waves.
func TestRolloutHasNames(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := rollout(began)
	s.Apply(event.Event{Type: event.RunFinished, Result: event.Interrupted, Time: began.Add(2 * time.Minute), DurationMS: 120_000})
	var b bytes.Buffer
	if err := report.Write(&b, report.HTML, s, report.Details{}); err != nil {
		t.Fatal(err)
	}
	board := string(report.NewPage(s, report.Details{}).Board())
	for _, want := range []string{`<h3>test <span>2 of 2</span></h3>`, `<h3>prod <span>0 of 2</span></h3>`, `<bdi>dev</bdi>`, `<span class="took">49.0s</span>`, `<bdi>prod-&lt;eu&gt;</bdi>`, "soak 10s"} {
		if !strings.Contains(board, want) {
			t.Errorf("the board does not have %s:\n%s", want, board)
		}
	}
	text := b.String()
	if !strings.Contains(text, board) {
		t.Error("the report does not have the board")
	}
	picture := text[strings.Index(text, "<svg"):]
	for _, name := range []string{"dev", "qa", "prod-us"} {
		if !strings.Contains(picture, ">"+name+"<") {
			t.Errorf("the pictures do not name %s", name)
		}
	}
	if strings.Contains(text, ">Wave prod<") {
		t.Error("an environment is called by its wave")
	}
}
