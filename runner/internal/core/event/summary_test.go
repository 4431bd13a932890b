package event_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mara/runner/internal/core/event"
)

var ignoreIndex = cmpopts.IgnoreUnexported(event.Summary{})

func TestSummaryGolden(t *testing.T) {
	t.Parallel()
	s, err := event.Summarise(event.Decode(bytes.NewReader(encode(t, everyType()))))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const golden = "testdata/summary.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the summary's form changed (-want +got):\n%s", diff)
	}
}

func TestSummaryFromJSON(t *testing.T) {
	t.Parallel()
	want, err := event.Summarise(event.Decode(bytes.NewReader(encode(t, everyType()))))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got event.Summary
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*want, got, ignoreIndex, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if step, position := got.Step("kind-registry"); step == nil || position != 2 {
		t.Errorf("step of a summary read from JSON: %v at %d", step, position)
	}
}

func TestSummaryOfUnfinishedRun(t *testing.T) {
	t.Parallel()
	events := everyType()[:4]
	s, err := event.Summarise(event.Decode(bytes.NewReader(append(encode(t, events), `{"type":"step.fin`...))))
	if err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("got error %v", err)
	}
	if got := s.Outcome(); got != event.Interrupted {
		t.Errorf("outcome %s, want interrupted", got)
	}
	if diff := cmp.Diff([]string{"kind-cluster"}, s.Running()); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
}

func TestSummaryKeepsDiagnosticsOnceAndNoChatter(t *testing.T) {
	t.Parallel()
	var s event.Summary
	s.Apply(event.Event{Type: event.RunWarning, Message: "early"})
	s.Apply(event.Event{Type: event.RunStarted, Projects: []event.Project{{Name: "a"}}})
	for _, sev := range []event.Severity{event.Debug, event.Info, event.Warning, event.Error, event.Error} {
		s.Apply(event.Event{Type: event.StepLog, Project: "a", Severity: sev, Message: string(sev)})
	}
	s.Apply(event.Event{Type: event.StepLog, Project: "stranger", Severity: event.Error, Message: "lost"})
	want := []event.Diagnostic{{Severity: event.Warning, Message: "warning"}, {Severity: event.Error, Message: "error"}}
	if diff := cmp.Diff(want, s.Steps[0].Diagnostics); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]event.Alert{{Message: "early"}}, s.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestRetryForgetsTheErrorsBefore(t *testing.T) {
	t.Parallel()
	var s event.Summary
	s.Apply(event.Event{Type: event.RunStarted, Projects: []event.Project{{Name: "a"}}})
	log := func(severity event.Severity, text string) {
		s.Apply(event.Event{Type: event.StepLog, Project: "a", Severity: severity, Message: text})
	}
	log(event.Warning, "careful")
	log(event.Error, "throttled")
	s.Apply(event.Event{Type: event.StepRetrying, Project: "a", Attempt: 2, WaitMS: 1500})
	log(event.Error, "refused")
	want := []event.Diagnostic{{Severity: event.Warning, Message: "careful"}, {Severity: event.Error, Message: "refused"}}
	if diff := cmp.Diff(want, s.Steps[0].Diagnostics); diff != "" || s.Steps[0].Attempt != 2 {
		t.Errorf("attempt %d, (-want +got):\n%s", s.Steps[0].Attempt, diff)
	}
}

func TestStepErrors(t *testing.T) {
	t.Parallel()
	diagnostic := event.Diagnostic{Severity: event.Error, Message: "the server is down: refused"}
	warning := event.Diagnostic{Severity: event.Warning, Message: "trying again"}
	tests := map[string]struct {
		in   event.Step
		want []event.Diagnostic
	}{
		"none":            {},
		"error only":      {in: event.Step{Error: "no"}, want: []event.Diagnostic{{Severity: event.Error, Message: "no"}}},
		"diagnostic only": {in: event.Step{Diagnostics: []event.Diagnostic{warning, diagnostic}}, want: []event.Diagnostic{diagnostic}},
		"both":            {in: event.Step{Error: "no", Diagnostics: []event.Diagnostic{diagnostic}}, want: []event.Diagnostic{diagnostic, {Severity: event.Error, Message: "no"}}},
		"framed": {in: event.Step{Error: "it failed: the chart is wrong: nginx: - bad", Diagnostics: []event.Diagnostic{{Severity: event.Error, Message: "the chart is wrong:\nnginx:\n- bad"}}},
			want: []event.Diagnostic{{Severity: event.Error, Message: "the chart is wrong:\nnginx:\n- bad"}}},
		"said already": {in: event.Step{Error: "refused", Diagnostics: []event.Diagnostic{diagnostic}}, want: []event.Diagnostic{diagnostic}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.in.Errors()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWaves holds that a fleet's results are those of its environments, and of
// ends of waves that have failed.
func TestWaves(t *testing.T) {
	t.Parallel()
	ended := []event.Event{
		{Project: "dev", Result: event.Succeeded}, {Project: event.WavePrefix + "first", Result: event.Succeeded},
		{Project: "test", Result: event.Succeeded}, {Project: event.WavePrefix + "second", Result: event.Failed},
		{Project: "prod", Result: event.Skipped, Unchanged: "run"}, {Project: event.WavePrefix + "third", Result: event.Skipped},
	}
	start := event.Event{Type: event.RunStarted, Fleet: true, Projects: []event.Project{{Name: "later"}}}
	for _, e := range ended {
		start.Projects = append(start.Projects, event.Project{Name: e.Project})
	}
	s := event.Summary{}
	s.Apply(start)
	for _, e := range ended {
		e.Type = event.StepFinished
		s.Apply(e)
	}
	if want := (event.Results{Succeeded: 2, Failed: 1, Skipped: 1, Unchanged: 1}); s.Results != want {
		t.Errorf("got %+v, want %+v", s.Results, want)
	}
	if done, all := s.Progress(); done != 3 || all != 4 {
		t.Errorf("%d of %d environments have ended, want 3 of 4", done, all)
	}
}
