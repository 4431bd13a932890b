package journal_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/testing/eventtest"
)

var update = flag.Bool("update", false, "write the golden files")

var (
	start         = time.Date(2026, 11, 20, 19, 30, 0, 250_000_000, time.UTC)
	ignorePrivate = cmpopts.IgnoreUnexported(event.Summary{})
)

// write keeps a recorded run below dir and returns it as it is on disk.
func write(t *testing.T, dir string, at time.Time, events []event.Event) journal.Run {
	t.Helper()
	meta := journal.Meta{}
	if len(events) > 0 {
		meta = metaOf(events[0])
	}
	return writeWith(t, dir, at, meta, events)
}

// metaOf returns the content of the first event.
func metaOf(e event.Event) journal.Meta {
	return journal.Meta{
		Operation: e.Operation, Environment: journal.Environment{Provider: e.Provider, Stack: e.Stack}, Simulated: e.Simulated,
	}
}

func writeWith(t *testing.T, dir string, at time.Time, meta journal.Meta, events []event.Event) journal.Run {
	t.Helper()
	j, err := journal.Create(journal.Options{Dir: dir, ID: journal.NewID(at), Meta: meta, Warn: func(e event.Event) { t.Error(e.Message) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		j.Emit(e)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return journal.Run{ID: j.ID(), Dir: j.Dir()}
}

func TestRunDir(t *testing.T) {
	t.Parallel()
	for _, run := range eventtest.All() {
		t.Run(run.Name, func(t *testing.T) {
			t.Parallel()
			r := write(t, filepath.Join(t.TempDir(), "deep", "runs"), start, run.Events)
			if !strings.HasPrefix(r.ID, "20261120-193000-250") || filepath.Base(r.Dir) != r.ID {
				t.Errorf("id %s in %s", r.ID, r.Dir)
			}
			expectEvents(t, r, run.Events)
			expectPrivate(t, r.Dir)
			want := eventtest.Summary(run.Events)
			expectSummary(t, r, want)
			if err := os.Remove(filepath.Join(r.Dir, "summary.json")); err != nil {
				t.Fatal(err)
			}
			expectSummary(t, r, want)
		})
	}
}

func expectEvents(t *testing.T, r journal.Run, want []event.Event) {
	t.Helper()
	f, err := os.Open(filepath.Join(r.Dir, "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []event.Event
	for e, err := range event.Decode(f) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func expectSummary(t *testing.T, r journal.Run, want *event.Summary) {
	t.Helper()
	got, err := r.Summary()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, ignorePrivate, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// expectPrivate checks that only the owner can read anything.
func expectPrivate(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestProjectLogs(t *testing.T) {
	t.Parallel()
	r := write(t, t.TempDir(), start, eventtest.Failure())
	logs, err := filepath.Glob(filepath.Join(r.Dir, "logs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "== %s\n%s", filepath.Base(path), text)
	}
	const golden = "testdata/failure-logs.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLogTellsOfRetries(t *testing.T) {
	t.Parallel()
	r := write(t, t.TempDir(), start, []event.Event{
		{Type: event.RunStarted, Time: start, Operation: operation.Up, Provider: "kind", Stack: "dev", Projects: []event.Project{{Name: "a"}}},
		{Type: event.StepStarted, Time: start, Project: "a"},
		{Type: event.StepRetrying, Time: start, Project: "a", Error: "too many requests", Attempt: 2, WaitMS: 5000},
		{Type: event.StepFinished, Time: start, Project: "a", Result: event.Succeeded, Attempt: 2, DurationMS: 9000},
	})
	text, err := os.ReadFile(filepath.Join(r.Dir, "logs", "a.log"))
	if err != nil {
		t.Fatal(err)
	}
	want := "19:30:00.250 failed: too many requests; attempt 2 in 5.0s\n19:30:00.250 succeeded after 9.0s and 2 attempts\n"
	if _, rest, _ := strings.Cut(string(text), "\n"); rest != want {
		t.Errorf("got %q, want %q", rest, want)
	}
}

func TestLogTellsWhatStaysTheSame(t *testing.T) {
	t.Parallel()
	bucket := event.Resource{Type: "aws:s3/bucket:Bucket", Name: "logs"}
	r := write(t, t.TempDir(), start, []event.Event{
		{Type: event.RunStarted, Time: start, Operation: operation.Refresh, Provider: "aws", Stack: "dev", Projects: []event.Project{{Name: "a"}}},
		{Type: event.StepStarted, Time: start, Project: "a"},
		{Type: event.StepProgress, Time: start, Project: "a", Resource: bucket, Action: event.Reload, Status: event.ActionStarted},
		{Type: event.StepProgress, Time: start, Project: "a", Resource: bucket, Action: event.Same, Status: event.ActionDone},
	})
	text, err := os.ReadFile(filepath.Join(r.Dir, "logs", "a.log"))
	if err != nil {
		t.Fatal(err)
	}
	want := "19:30:00.250 refresh started aws:s3/bucket:Bucket logs\n19:30:00.250 unchanged aws:s3/bucket:Bucket logs\n"
	if _, rest, _ := strings.Cut(string(text), "\n"); rest != want {
		t.Errorf("got %q, want %q", rest, want)
	}
}

func TestSimulatedIsInEveryFile(t *testing.T) {
	t.Parallel()
	r := write(t, t.TempDir(), start, eventtest.Simulated())
	err := filepath.WalkDir(r.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && !strings.Contains(strings.ToLower(string(text)), "simulated") {
			t.Errorf("%s is not marked", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLogStaysInItsDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := "../../../evil"
	write(t, dir, start, []event.Event{
		{Type: event.RunStarted, Projects: []event.Project{{Name: name}}},
		{Type: event.StepStarted, Project: name, Time: start},
	})
	if _, err := os.Stat(filepath.Join(dir, "..", "evil.log")); err == nil {
		t.Error("a log was written outside of the run's directory")
	}
}

func TestSurvivesBeingKilled(t *testing.T) {
	t.Parallel()
	events := eventtest.Success()
	for cut := range 40 {
		dir := t.TempDir()
		j, err := journal.Create(journal.Options{Dir: dir, ID: journal.NewID(start)})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events[:8] {
			j.Emit(e)
		}
		path := filepath.Join(j.Dir(), "events.ndjson") // and now the process is gone, perhaps in the middle of a line
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()-int64(cut*10)); err != nil {
			t.Fatal(err)
		}
		s, err := journal.Run{ID: j.ID(), Dir: j.Dir()}.Summary()
		if err != nil {
			t.Fatalf("%d bytes cut off: %v", cut*10, err)
		}
		if s.Outcome() != event.Interrupted || len(s.Steps) != 6 {
			t.Errorf("%d bytes cut off: %s with %d steps", cut*10, s.Outcome(), len(s.Steps))
		}
	}
}

func TestUnreadableSummaryFallsBackToTheEvents(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "rubbish": "{", "newer": `{"format":99}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := write(t, t.TempDir(), start, eventtest.NoOp())
			if err := os.WriteFile(filepath.Join(r.Dir, "summary.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			expectSummary(t, r, eventtest.Summary(eventtest.NoOp()))
		})
	}
}

func TestDamagedRunNamesTheLine(t *testing.T) {
	t.Parallel()
	r := write(t, t.TempDir(), start, nil)
	if err := os.WriteFile(filepath.Join(r.Dir, "events.ndjson"), []byte("rubbish\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Summary(); err == nil || !strings.Contains(err.Error(), "events.ndjson: line 1") || !strings.Contains(err.Error(), r.ID) {
		t.Errorf("got %v", err)
	}
	if err := os.RemoveAll(r.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Summary(); err == nil {
		t.Error("a run that is gone has a summary")
	}
}

func TestWriteErrorIsReportedOnceAndStopsNothing(t *testing.T) {
	t.Parallel()
	var warnings []string
	var j *journal.Journal
	j, err := journal.Create(journal.Options{Dir: t.TempDir(), ID: journal.NewID(start), Warn: func(e event.Event) {
		warnings = append(warnings, e.Message)
		j.Emit(e) // an Emitter hands the warning back to the journal
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(j.Dir()); err != nil { // the logs can no longer be made
		t.Fatal(err)
	}
	for _, e := range eventtest.Success() {
		j.Emit(e)
	}
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "the journal of this run is incomplete: open ") {
		t.Errorf("got warnings %q", warnings)
	}
	if err := j.Close(); err == nil {
		t.Error("the summary cannot have been written")
	}
}

func TestCreateErrors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Create(journal.Options{Dir: filepath.Join(file, "runs"), ID: journal.NewID(start)}); err == nil {
		t.Error("made a directory below a file")
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if runs, err := journal.List(filepath.Join(dir, "none")); err != nil || runs != nil {
		t.Errorf("of a missing directory: %v, %v", runs, err)
	}
	old := write(t, dir, start, eventtest.NoOp())
	young := write(t, dir, start.Add(time.Millisecond), eventtest.NoOp())
	for _, other := range []string{"notes", "20261120-193000-25", "20269920-193000-250abc"} {
		if err := os.Mkdir(filepath.Join(dir, other), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got, err := journal.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]journal.Run{young, old}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.List(filepath.Join(dir, "file")); err == nil {
		t.Error("listed a file")
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	// s, f, i: how the run ended, oldest first; F is a failure in another environment.
	tests := map[string]struct {
		runs string
		keep int
		days int    // how long runs are kept, of which there is one a day; 0 for ever
		want string // what is left
	}{
		"few enough":                        {runs: "sfs", keep: 3, want: "sfs"},
		"oldest go":                         {runs: "sssss", keep: 2, want: "ss"},
		"last failure stays":                {runs: "fssss", keep: 2, want: "fss"},
		"but not the one before":            {runs: "ffsss", keep: 2, want: "fss"},
		"interruption counts":               {runs: "fisss", keep: 2, want: "iss"},
		"a newer failure replaces an older": {runs: "fsssf", keep: 2, want: "sf"},
		"each environment":                  {runs: "fFsss", keep: 2, want: "fFss"},
		"none":                              {runs: "sf", keep: 0, want: "f"},
		"the newest always stays":           {runs: "ss", keep: 0, want: "s"},
		"old ones go":                       {runs: "sssss", keep: 9, days: 2, want: "sss"},
		"but not the last failure":          {runs: "fssss", keep: 9, days: 2, want: "fsss"},
		"whichever is stricter":             {runs: "sssss", keep: 2, days: 2, want: "ss"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for i, kind := range tt.runs {
				write(t, dir, start.AddDate(0, 0, i), runOf(kind))
			}
			keep := journal.Retention{Runs: tt.keep, Age: time.Duration(tt.days) * 25 * time.Hour}
			if err := journal.Prune(dir, keep, start.AddDate(0, 0, len(tt.runs)-1)); err != nil {
				t.Fatal(err)
			}
			if got := kinds(t, dir); got != tt.want {
				t.Errorf("left %q, want %q", got, tt.want)
			}
		})
	}
}

func runOf(kind rune) []event.Event {
	switch kind {
	case 's':
		return eventtest.NoOp()
	case 'i':
		return eventtest.Interrupted()
	}
	events := eventtest.Failure()
	if kind == 'F' {
		events[0].Stack = "prod"
	}
	return events
}

// kinds returns how the runs on disk ended, oldest first.
func kinds(t *testing.T, dir string) string {
	t.Helper()
	runs, err := journal.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, r := range runs {
		s, err := r.Summary()
		if err != nil {
			t.Fatal(err)
		}
		kind := string(s.Outcome())[:1]
		if s.Stack == "prod" {
			kind = strings.ToUpper(kind)
		}
		out = kind + out
	}
	return out
}

// TestManyMessages: a program in a loop does not fill the disk, and its errors are recorded all the same.
func TestManyMessages(t *testing.T) {
	t.Parallel()
	said := func(severity event.Severity, text string) event.Event {
		return event.Event{Time: start, Type: event.StepLog, Project: "loop", Severity: severity, Message: text}
	}
	events := []event.Event{
		{Time: start, Type: event.RunStarted, Projects: []event.Project{{Name: "loop"}}},
		{Time: start, Type: event.StepStarted, Project: "loop"},
	}
	for range 200 {
		events = append(events, said(event.Info, strings.Repeat("x", 1<<20)))
	}
	events = append(events, said(event.Error, "the reason"), said(event.Info, "the end"))
	run := write(t, t.TempDir(), start, events)
	size := int64(0)
	if err := filepath.WalkDir(run.Dir, func(path string, entry fs.DirEntry, err error) error {
		if info, problem := entry.Info(); problem == nil {
			size += info.Size()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if size > 140<<20 {
		t.Errorf("200 MiB of messages take %d MiB", size>>20)
	}
	log, err := os.ReadFile(filepath.Join(run.Dir, "logs", "loop.log"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"more than 64 MiB of messages: the others are not recorded": 1, "the reason": 1, "the end": 0} {
		if got := strings.Count(string(log), text); got != want {
			t.Errorf("the log says %q %d times", text, got)
		}
	}
}
