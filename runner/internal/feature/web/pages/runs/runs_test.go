package runs

import (
	"testing"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
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
		times := timesBefore(history, &now, []event.Step{{Project: event.Project{Name: name}, Changes: changes}})
		if times[name] != want {
			t.Errorf("%+v: %s, want %s", changes, times[name], want)
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
