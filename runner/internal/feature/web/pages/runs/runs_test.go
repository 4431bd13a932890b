package runs

import (
	"testing"

	"mara/runner/internal/core/event"
)

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
