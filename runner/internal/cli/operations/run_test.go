package operations

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/providers/operation"
	"mara/runner/internal/cli/cmd/cmdtest"
	"mara/runner/internal/event"
	"mara/runner/internal/journal"
	"mara/runner/internal/report"
	"mara/runner/internal/ui"
)

// TestAJournalThatCannotBeCompletedIsTold: the summary is written at the end,
// where a disk may have become full.
func TestAJournalThatCannotBeCompletedIsTold(t *testing.T) {
	t.Parallel()
	d, _, stderr := cmdtest.Deps(t)
	j, err := journal.Create(journal.Options{Dir: t.TempDir(), ID: journal.NewID(d.Now())})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(j.Dir()); err != nil {
		t.Fatal(err)
	}
	r := &run{
		journal: j, collector: report.NewCollector(), screen: ui.NewPlain(d.Stdout, ui.Options{}),
		emitter: event.NewEmitter(event.EmitterOptions{Now: d.Now}),
	}
	r.finish(d, operateOptions{})
	if !strings.Contains(stderr.String(), "warning: the journal of this run is incomplete: ") {
		t.Errorf("it says %q", stderr)
	}
}

func TestNextSteps(t *testing.T) {
	t.Parallel()
	found := event.Changes{Update: 1}
	for _, test := range []struct {
		operation operation.Operation
		simulated bool
		summary   event.Summary
		want      []string
	}{
		{operation.Up, false, event.Summary{Result: event.Succeeded}, []string{"runner outputs -s dev", "runner status -s dev"}},
		{operation.Drift, false, event.Summary{Result: event.Succeeded}, nil},
		{operation.Drift, true, event.Summary{Result: event.Succeeded, Changes: found}, []string{
			"runner refresh -s dev --simulate   # takes it into the state",
			"runner up -s dev --simulate   # then puts it right",
		}},
		{operation.Drift, false, event.Summary{Result: event.Failed, Changes: found}, []string{"runner drift -s dev --resume   # carries on with what is left"}},
	} {
		o := operateOptions{}
		o.Operation, o.Simulation.On = test.operation, test.simulated
		if diff := cmp.Diff(test.want, nextSteps(o, "dev")(&test.summary)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.operation, diff)
		}
	}
}
