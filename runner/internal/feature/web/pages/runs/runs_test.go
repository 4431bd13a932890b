package runs

import (
	"testing"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/report"
	"mara/runner/internal/core/view"
	"mara/runner/internal/testing/eventtest"
)

// TestTimesBefore: an update is compared with the last update, and a creation with the last creation.
func TestTimesBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var last *event.Summary
	for i, events := range [][]event.Event{eventtest.Success(), eventtest.NoOp()} {
		id := journal.NewID(time.Date(2026, 11, 20, 19, 30+i, 0, 0, time.UTC))
		j, err := journal.Create(journal.Options{Dir: dir, ID: id, Warn: func(e event.Event) { t.Error(e.Message) }})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			j.Emit(e)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		last = eventtest.Summary(events)
	}
	history := view.NewHistory(dir)
	if _, err := history.Refresh(); err != nil {
		t.Fatal(err)
	}
	var now view.Past
	now.Stack, now.Operation, now.Started = last.Stack, last.Operation, time.Now()
	const name = "kind-cluster"
	for want, changes := range map[time.Duration]event.Changes{12345 * time.Millisecond: {Create: 3}, 40 * time.Millisecond: {Update: 1}} {
		run := &event.Summary{Environment: last.Environment, Operation: last.Operation, Started: now.Started,
			Steps: []event.Step{{Project: event.Project{Name: name}, Changes: changes}}}
		times := timesBefore(history, &now, run)
		if times[name] != want {
			t.Errorf("%+v: %s, want %s", changes, times[name], want)
		}
	}
}

// TestNow: a project that runs says what it does: the hook that goes on, else the last resource.
func TestNow(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	step := event.Step{Project: event.Project{Name: "net"}, Started: began}
	hooks := []event.Hook{{Name: "before", Result: event.Succeeded}, {Name: "smoke test", Started: began}}
	made := report.Resources{List: []report.Resource{{Resource: event.Resource{Type: "a:b:C", Name: "c"}, Action: event.Create}}}
	past := &view.Past{PastRun: view.PastRun{Result: view.ResultRunning}}
	for name, test := range map[string]struct {
		row  report.Row
		want string
	}{
		"nothing yet":                {report.Row{Step: step}, ""},
		"a resource":                 {report.Row{Step: step, Resources: made}, "create a:b:C c"},
		"a line of the log":          {report.Row{Step: step, Log: report.Log{Text: "one\ntwo\n"}}, "two"},
		"a hook":                     {report.Row{Step: event.Step{Project: step.Project, Started: began, Hooks: hooks}, Resources: made}, "hook smoke test"},
		"a hook that came to an end": {report.Row{Step: event.Step{Project: step.Project, Started: began, Hooks: hooks[:1]}}, ""},
	} {
		var data runPage
		data.addRow(test.row, past, began.Add(time.Minute))
		if len(data.Now) != 1 || data.Now[0].Doing != test.want || data.Now[0].Since != time.Minute {
			t.Errorf("%s: %+v", name, data.Now)
		}
	}
}

// TestLivePageIsShort: the page of a run that goes on shows some of many changes and warnings, but every loss and every error.
func TestLivePageIsShort(t *testing.T) {
	t.Parallel()
	few := event.Step{Differences: make([]event.Difference, mostLive), Diagnostics: make([]event.Diagnostic, 1)}
	var many event.Step
	for i := range 3 * mostLive {
		difference, diagnostic := event.Difference{Action: event.Create}, event.Diagnostic{Severity: event.Warning}
		switch i {
		case 2*mostLive + 1:
			difference.Action = event.Replace
		case 2*mostLive + 2:
			difference.Action, diagnostic.Severity = event.Delete, event.Error
		}
		many.Differences, many.Diagnostics = append(many.Differences, difference), append(many.Diagnostics, diagnostic)
	}
	whole := event.Summary{Steps: []event.Step{few, many}}
	s := event.Summary{Steps: []event.Step{few, many}}
	more := shorten(&s)
	if want := 4*mostLive - 3; more[0] != 0 || more[1] != want {
		t.Errorf("%d are left out, not 0 and %d", more, want)
	}
	if got := s.Steps[1].Differences; len(got) != mostLive+2 || !got[mostLive].IsLoss() || !got[mostLive+1].IsLoss() {
		t.Errorf("%d changes", len(got))
	}
	if got := s.Steps[1].Diagnostics; len(got) != mostLive+1 || got[mostLive].Severity != event.Error {
		t.Errorf("%d diagnostics", len(got))
	}
	if n := len(whole.Steps[1].Differences); n != 3*mostLive || whole.Steps[1].Differences[mostLive].IsLoss() {
		t.Errorf("the run itself has lost some of its %d changes", n)
	}
}
