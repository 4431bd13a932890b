package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/report"
	"mara/runner/internal/testing/eventtest"
)

var update = flag.Bool("update", false, "write the golden files")

func write(t *testing.T, f report.Format, s *event.Summary) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, f, s, report.Details{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCutOffReport: of a run that was killed, what had begun was interrupted, and what had not is not said to have been.
func TestCutOffReport(t *testing.T) {
	t.Parallel()
	events := eventtest.Success()
	began := slices.IndexFunc(events, func(e event.Event) bool { return e.Type == event.StepStarted })
	s := eventtest.Summary(events[:began+1])
	rows := strings.Split(strings.TrimSpace(write(t, report.CSV, s)), "\n")[1:]
	for i, row := range rows {
		if want := map[bool]string{true: "interrupted", false: "skipped"}[s.Steps[i].Name == events[began].Project]; !strings.Contains(row, ","+want+",") {
			t.Errorf("not %s: %s", want, row)
		}
	}
	if len(rows) != len(s.Steps) || len(rows) < 2 {
		t.Errorf("%d rows of %d steps", len(rows), len(s.Steps))
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	extensions := map[report.Format]string{report.JSON: "json", report.Markdown: "md", report.JUnit: "xml", report.SARIF: "sarif", report.HTML: "html", report.CSV: "csv"}
	runs := map[string][]event.Event{
		"failure": eventtest.Failure(), "simulated": eventtest.Simulated(), "interrupted": eventtest.Interrupted(), "unreachable": eventtest.Unreachable(),
		"outputs": eventtest.Outputs(operation.Preview), "denied": eventtest.Denied(),
	}
	for name, events := range runs {
		for _, f := range report.Formats() {
			path := filepath.Join("testdata", name+"."+extensions[report.Format(f)])
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				got := write(t, report.Format(f), eventtest.Summary(events))
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// hostile returns a run whose strings contain markup.
func hostile() *event.Summary {
	const text = "</pre><script>alert(1)</script> | a *b* `c` ``` ]]> & \x01 end"
	events := eventtest.Failure()
	for i := range events {
		if events[i].Type == event.StepLog || events[i].Type == event.StepFinished {
			events[i].Message, events[i].Reason, events[i].Error = text, text, text
		}
	}
	events = append(events, event.Event{Type: event.RunWarning, Project: "secrets", Message: text})
	return eventtest.Summary(events)
}

func TestHTMLEscapesAndLoadsNothing(t *testing.T) {
	t.Parallel()
	pages := map[string]*event.Summary{"hostile": hostile()}
	for _, run := range eventtest.All() {
		pages[run.Name] = eventtest.Summary(run.Events)
	}
	outside := regexp.MustCompile(`(?i)<script|src=|@import|url\(|https?://|ZgotmplZ`)
	for name, s := range pages {
		got := write(t, report.HTML, s)
		if m := outside.FindString(got); m != "" {
			t.Errorf("%s: the page holds %q", name, m)
		}
		if s.Simulated != strings.Contains(got, "SIMULATED") {
			t.Errorf("%s: simulated is %t", name, s.Simulated)
		}
		expectBalanced(t, name, strings.ReplaceAll(got, "\x01", ""))
	}
}

// expectBalanced checks that the page closes what it opens.
func expectBalanced(t *testing.T, name, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict = false
	d.AutoClose = []string{"meta", "link", "br"}
	d.Entity = xml.HTMLEntity
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
}

func TestMarkdownEscapes(t *testing.T) {
	t.Parallel()
	got := write(t, report.Markdown, hostile())
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "| ") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 6 {
			t.Errorf("a text has broken the table: %s", line)
		}
	}
	if !strings.Contains(got, "\n````\n") {
		t.Error("the fence is not longer than the backticks in the text")
	}
	if strings.Contains(strings.Split(got, "````")[0], "<script") {
		t.Error("markup outside of a fence")
	}
}

func TestMarkdownTellsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	s := eventtest.Summary(eventtest.Success())
	s.Excluded = []event.Exclusion{{Name: "logstore", Title: "Logstore", Reason: "--skip logstore+"}}
	if got := write(t, report.Markdown, s); !strings.Contains(got, "### Left out\n\n- logstore: --skip logstore+\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestJUnitReadsBack(t *testing.T) {
	t.Parallel()
	type suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	tests := map[string]struct {
		in   *event.Summary
		want suite
	}{
		"failure":     {eventtest.Summary(eventtest.Failure()), suite{Tests: 6, Failures: 1, Skipped: 3}},
		"hostile":     {hostile(), suite{Tests: 6, Failures: 1, Skipped: 3}},
		"interrupted": {eventtest.Summary(eventtest.Interrupted()), suite{Tests: 6, Errors: 4}},
		"killed":      {eventtest.Summary(eventtest.Success()[:6]), suite{Tests: 6, Errors: 2, Skipped: 4}},
		"success":     {eventtest.Summary(eventtest.Success()), suite{Tests: 6}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got struct {
				Suite suite `xml:"testsuite"`
			}
			if err := xml.Unmarshal([]byte(write(t, report.JUnit, tt.in)), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Suite); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSONReadsBack(t *testing.T) {
	t.Parallel()
	var got event.Summary
	if err := json.Unmarshal([]byte(write(t, report.JSON, eventtest.Summary(eventtest.Failure()))), &got); err != nil {
		t.Fatal(err)
	}
	if got.Outcome() != event.Failed || len(got.Steps) != 6 || got.Format != event.SummaryFormat {
		t.Errorf("got %+v", got)
	}
}

func TestEveryFormatOfStrangeSummaries(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*event.Summary{
		"nothing":     {},
		"no projects": eventtest.Summary([]event.Event{{Type: event.RunStarted}, {Type: event.RunFinished, Result: event.Succeeded}}),
		"killed":      eventtest.Summary(eventtest.Success()[:6]),
	} {
		for _, f := range report.Formats() {
			if got := write(t, report.Format(f), s); got == "" {
				t.Errorf("%s: empty %s", name, f)
			}
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	err := report.Write(io.Discard, "pdf", &event.Summary{}, report.Details{})
	if !errors.Is(err, report.ErrFormat) || err.Error() != `unknown report format "pdf": choose one of html, md, json, junit, sarif, csv` {
		t.Errorf("got %v", err)
	}
}

// brokenWriter never writes.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrorsAreReturned(t *testing.T) {
	t.Parallel()
	for _, f := range report.Formats() {
		if err := report.Write(brokenWriter{}, report.Format(f), eventtest.Summary(eventtest.Success()), report.Details{}); err == nil {
			t.Errorf("%s: the error is lost", f)
		}
	}
}

// TestFailedRunsAreRed: no failed run looks green to a CI system, whether projects,
// guards or something else have failed it.
func TestFailedRunsAreRed(t *testing.T) {
	t.Parallel()
	withoutReason := eventtest.Simulated()
	withoutReason[len(withoutReason)-1].Result = event.Failed
	for name, test := range map[string]struct {
		events           []event.Event
		failures, errors int
	}{
		"denied by two guards": {eventtest.Denied(), 2, 0},
		"no reason known":      {withoutReason, 0, 1},
		"success":              {eventtest.Simulated(), 0, 0},
	} {
		var suites struct {
			Suites []struct {
				Tests    int        `xml:"tests,attr"`
				Failures int        `xml:"failures,attr"`
				Errors   int        `xml:"errors,attr"`
				Cases    []struct{} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		if err := xml.Unmarshal([]byte(write(t, report.JUnit, eventtest.Summary(test.events))), &suites); err != nil {
			t.Fatal(err)
		}
		suite := suites.Suites[0]
		if suite.Failures != test.failures || suite.Errors != test.errors || suite.Tests != len(suite.Cases) {
			t.Errorf("%s: %+v", name, suite)
		}
	}
}
