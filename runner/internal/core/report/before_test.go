package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/report"
	"mara/runner/internal/testing/eventtest"
)

// A bar says how long the project took the last time, if that is known and the project has run now.
func TestBefore(t *testing.T) {
	t.Parallel()
	s := &event.Summary{}
	for _, e := range eventtest.Success() {
		s.Apply(e)
	}
	name := s.Steps[0].Name
	page := report.NewPage(s, report.Details{Before: map[string]time.Duration{name: 90 * time.Second}})
	for _, row := range page.Rows {
		if got := row.Before != nil; got != (row.Name == name) {
			t.Errorf("%s: a bar of the last time: %v", row.Name, got)
		}
	}
	var b bytes.Buffer
	if err := report.Write(&b, report.HTML, s, report.Details{Before: map[string]time.Duration{name: 90 * time.Second}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Gray behind a bar", `<title>1m30s the last time</title><rect class="last"`, ", 1m30s the last time"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report does not have %s", want)
		}
	}
	if row := page.Rows[0]; row.Last != "1m30s" || row.Before.Left != row.Bar.Left {
		t.Errorf("%q, %+v", row.Last, row.Before)
	}
}
