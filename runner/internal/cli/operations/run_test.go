package operations

import (
	"os"
	"strings"
	"testing"

	"mara/runner/internal/output/report"
	"mara/runner/internal/output/ui"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/testing/cmdtest"
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
