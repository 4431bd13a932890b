package report_test

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/report"
	"mara/runner/internal/testing/eventtest"
)

func TestFormatOf(t *testing.T) {
	t.Parallel()
	tests := map[string]report.Format{
		"a/report.html": report.HTML, "r.htm": report.HTML, "r.md": report.Markdown, "r.json": report.JSON, "junit.xml": report.JUnit, "r.csv": report.CSV,
	}
	for path, want := range tests {
		if got, err := report.FormatOf(path); err != nil || got != want {
			t.Errorf("%s: got %s, %v", path, got, err)
		}
	}
	for _, path := range []string{"report", "report.pdf", ""} {
		if _, err := report.FormatOf(path); !errors.Is(err, report.ErrFormat) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestCSVReadsBackAndHoldsNoFormulas(t *testing.T) {
	t.Parallel()
	s := eventtest.Summary(eventtest.Failure())
	s.Steps[2].Error = "=HYPERLINK(\"x\")\nsecond \"line\", and more"
	rows, err := csv.NewReader(strings.NewReader(write(t, report.CSV, s))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 7 {
		t.Fatalf("%d rows", len(rows))
	}
	if got := rows[3][slices.Index(rows[0], "error")]; got != "'=HYPERLINK(\"x\")\nsecond \"line\", and more" {
		t.Errorf("got %q", got)
	}
}

func TestAppendStepSummary(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(path, []byte("# before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := eventtest.Summary(eventtest.Failure())
	if err := report.AppendStepSummary(path, s); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "# before\n" + write(t, report.Markdown, s); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAppendStepSummaryStaysBelowTheLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "summary.md")
	s := eventtest.Summary(eventtest.Failure())
	s.Steps[2].Diagnostics = []event.Diagnostic{{Severity: event.Error, Message: strings.Repeat("long ", 1<<20)}}
	if err := report.AppendStepSummary(path, s); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) > 1<<20 || !strings.Contains(string(got), "too long for this summary") || !strings.Contains(string(got), "| kubeconfig | failed |") {
		t.Errorf("%d bytes:\n%.2000s", len(got), got)
	}
	if len(s.Steps[2].Diagnostics) != 1 {
		t.Error("the summary has been changed")
	}
}

func TestAppendStepSummaryTellsErrors(t *testing.T) {
	t.Parallel()
	if err := report.AppendStepSummary(filepath.Join(t.TempDir(), "no", "file"), &event.Summary{}); err == nil {
		t.Error("the error is lost")
	}
}
