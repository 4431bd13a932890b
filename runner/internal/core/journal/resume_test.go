package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/testing/eventtest"
)

// dev is the environment of the tests.
var dev = journal.Environment{Provider: "kind", Stack: "dev"}

// past is a run in short: words of project=result, where the result is
// succeeded, failed, skipped (had nothing to do), cancelled (while it ran),
// running (was killed) or never.
type past struct {
	operation operation.Operation
	stack     string
	steps     string
	resumes   int // number of the run that it resumes, counted from one
	config    string
}

// keep writes runs in order and returns their ids.
func keep(t *testing.T, dir string, runs ...past) []string {
	t.Helper()
	var ids []string
	for i, p := range runs {
		meta := journal.Meta{Environment: dev, Fingerprint: digestOf(p.config)}
		if p.resumes > 0 {
			meta.Resumes = ids[p.resumes-1]
		}
		ids = append(ids, writeWith(t, dir, start.Add(time.Duration(i)*time.Minute), meta, p.events()).ID)
	}
	return ids
}

func digestOf(config string) fingerprint.Fingerprint {
	return fingerprint.New(map[string][]byte{"Pulumi.dev.yaml": []byte(config)})
}

func (p past) events() []event.Event {
	head := event.Event{Time: start, Run: "r", Type: event.RunStarted, Operation: p.operation, Provider: "kind", Stack: "dev"}
	if p.stack != "" {
		head.Stack = p.stack
	}
	if head.Operation == "" {
		head.Operation = operation.Up
	}
	events := []event.Event{head}
	for word := range strings.FieldsSeq(p.steps) {
		name, result, _ := strings.Cut(word, "=")
		events[0].Projects = append(events[0].Projects, event.Project{Name: name})
		if result != "never" {
			events = append(events, event.Event{Time: start, Type: event.StepStarted, Project: name})
		}
		finished := event.Event{Time: start, Type: event.StepFinished, Project: name, Result: event.Result(result)}
		if result == "never" {
			finished.Result = event.Skipped
		}
		if result != "running" {
			events = append(events, finished)
		}
	}
	return events
}

func TestResume(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		runs []past
		want string // succeeded / failed / never ran
		run  int    // the resumed run, counted from one
	}{
		"failed":      {runs: []past{{steps: "a=succeeded b=failed c=never d=cancelled e=running f=skipped"}}, run: 1, want: "a f / b d e / c"},
		"all done":    {runs: []past{{steps: "a=succeeded b=skipped"}}, run: 1, want: "a b / / "},
		"the last":    {runs: []past{{steps: "a=failed"}, {steps: "a=succeeded b=failed"}}, run: 2, want: "a / b / "},
		"not started": {runs: []past{{steps: "a=failed"}, {steps: "a=never b=never"}}, run: 2, want: " /  / a b"},
		"of the operation": {
			runs: []past{{steps: "a=failed"}, {operation: operation.Preview, steps: "a=succeeded"}, {operation: operation.Refresh, steps: "a=failed"}},
			run:  1, want: " / a / ",
		},
		"of the environment": {runs: []past{{steps: "a=failed"}, {stack: "prod", operation: operation.Destroy, steps: "a=succeeded"}}, run: 1, want: " / a / "},
		"destroy that never began": {
			runs: []past{{steps: "a=failed"}, {operation: operation.Destroy, steps: "a=never"}}, run: 1, want: " / a / ",
		},
		"resumed": {
			runs: []past{{steps: "a=succeeded b=failed c=never d=never"}, {resumes: 1, steps: "b=succeeded c=failed d=never"}},
			run:  2, want: "a b / c / d",
		},
		"only the failed resumed": {
			runs: []past{{steps: "a=succeeded b=failed c=never"}, {resumes: 1, steps: "b=succeeded"}}, run: 2, want: "a b /  / c",
		},
		"resumed twice": {
			runs: []past{{steps: "a=failed b=failed c=never"}, {resumes: 1, steps: "b=succeeded"}, {resumes: 2, steps: "a=cancelled"}},
			run:  3, want: "b / a / c",
		},
		"by hand after that": {
			runs: []past{{steps: "a=failed b=never"}, {steps: "a=succeeded"}}, run: 2, want: "a / / ",
		},
		"resumes older runs too": {
			runs: []past{{steps: "a=succeeded b=failed"}, {steps: "x=failed"}, {resumes: 1, steps: "b=failed"}}, run: 3, want: "a / b / ",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ids := keep(t, dir, tt.runs...)
			got, err := journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("")})
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%s / %s / %s", strings.Join(got.Succeeded, " "), strings.Join(got.Failed, " "), strings.Join(got.NeverRan, " "))
			if strings.Join(strings.Fields(text), " ") != strings.Join(strings.Fields(tt.want), " ") || got.Run.ID != ids[tt.run-1] {
				t.Errorf("got %s of %s, want %s of %s", text, got.Run.ID, tt.want, ids[tt.run-1])
			}
			if len(got.Unfinished()) != len(got.Failed)+len(got.NeverRan) {
				t.Errorf("unfinished: %v", got.Unfinished())
			}
		})
	}
}

// TestResumeOfARollout: only runs of the rollouts that are resumed count, and --force is remembered.
func TestResumeOfARollout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	meta := journal.Meta{Environment: dev, Fingerprint: digestOf(""), Rollout: "r1", Force: true}
	run := writeWith(t, dir, start, meta, past{steps: "a=succeeded b=failed"}.events())
	q := journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf(""), Rollouts: []string{"r2", "r1"}}
	got, err := journal.Resume(dir, q)
	if err != nil || !got.Force || len(got.Chain) != 1 || got.Chain[0] != run.ID {
		t.Errorf("%v, force %v, chain %v", err, got.Force, got.Chain)
	}
	for _, others := range [][]string{{"r2"}, {}} {
		q.Rollouts = others
		var refused *journal.ResumeError
		if _, err := journal.Resume(dir, q); !errors.As(err, &refused) {
			t.Errorf("of %v: %v", others, err)
		}
	}
}

func TestUnfinishedIsInPlanOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep(t, dir, past{steps: "a=never b=failed c=succeeded d=never e=failed"}, past{resumes: 1, steps: "b=failed e=cancelled"})
	got, err := journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("")})
	if diff := cmp.Diff([]string{"a", "b", "d", "e"}, got.Unfinished()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		runs  []past
		query journal.Query
		want  string // ID1 stands for the id of the first run
	}{
		"no run":         {want: "nothing to resume: there has been no up of kind/dev"},
		"other stack":    {runs: []past{{stack: "prod", steps: "a=failed"}}, want: "nothing to resume: there has been no up of kind/dev"},
		"only a preview": {runs: []past{{operation: operation.Preview, steps: "a=failed"}}, want: "nothing to resume: there has been no up of kind/dev"},
		"destroyed":      {runs: []past{{operation: operation.Destroy, steps: "a=succeeded"}}, want: "nothing to resume: the last run of kind/dev was destroy, ID1"},
		"up again": {
			runs:  []past{{steps: "a=running"}},
			query: journal.Query{Operation: operation.Destroy}, want: "nothing to resume: the last run of kind/dev was up, ID1",
		},
		"changed": {runs: []past{{config: "old", steps: "a=failed"}}, want: "the configuration has changed since run ID1: Pulumi.dev.yaml"},
		"changed since the first, then allowed": {
			runs: []past{{config: "old", steps: "a=failed"}, {config: "other", resumes: 1, steps: "a=failed"}},
			want: "the configuration has changed since run ID2: Pulumi.dev.yaml",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for i, id := range keep(t, dir, tt.runs...) {
				tt.want = strings.ReplaceAll(tt.want, fmt.Sprintf("ID%d", i+1), id)
			}
			q := tt.query
			q.Environment, q.Fingerprint = dev, digestOf("")
			if q.Operation == "" {
				q.Operation = operation.Up
			}
			_, err := journal.Resume(dir, q)
			var refused *journal.ResumeError
			if !errors.As(err, &refused) || err.Error() != tt.want || refused.NextStep() == "" {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestResumeWithChangesIfAllowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep(t, dir, past{config: "old", steps: "a=succeeded b=failed"})
	got, err := journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("new"), Changed: true})
	if err != nil || len(got.Failed) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"Pulumi.dev.yaml"}, got.Changes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestResumeWhenTheRunBeforeIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ids := keep(t, dir, past{steps: "a=failed b=never"}, past{resumes: 1, steps: "a=succeeded"})
	if err := os.RemoveAll(filepath.Join(dir, ids[0])); err != nil {
		t.Fatal(err)
	}
	_, err := journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("")})
	var refused *journal.ResumeError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "resumed run "+ids[0]+", which does not exist any more") {
		t.Errorf("got %v", err)
	}
}

func TestPruneKeepsWhatIsCarriedOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ids := keep(t, dir,
		past{steps: "a=failed b=never"}, past{steps: "x=failed"}, past{resumes: 1, steps: "a=succeeded b=failed"},
		past{operation: operation.Preview, steps: "a=succeeded"}, past{operation: operation.Preview, steps: "a=succeeded"})
	for _, id := range ids[3:] { // the last events are missing in the short form of a run
		finish(t, filepath.Join(dir, id))
	}
	if err := journal.Prune(dir, journal.Retention{Runs: 1}, start); err != nil {
		t.Fatal(err)
	}
	runs, err := journal.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, r := range runs {
		left = append(left, r.ID)
	}
	if diff := cmp.Diff([]string{ids[4], ids[2], ids[0]}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// finish makes a run in short a success.
func finish(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, "summary.json")); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "events.ndjson"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`{"type":"run.finished","result":"succeeded"}` + "\n"); err != nil {
		t.Fatal(err)
	}
}

// TestResumeAfterBeingKilled cuts the events off at every byte, as a kill does:
// what has not been written down is left to do, and nothing else.
func TestResumeAfterBeingKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ids := keep(t, dir, past{steps: "a=failed b=never c=never"}, past{steps: "a=succeeded b=succeeded c=failed"})
	path := filepath.Join(dir, ids[1], "events.ndjson")
	if err := os.Remove(filepath.Join(dir, ids[1], "summary.json")); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head := len(strings.SplitAfterN(string(whole), "\n", 2)[0])
	for cut := range whole {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("")})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		// The line of an event is complete without its line end.
		began := cut >= head-1
		if began != (got.Run.ID == ids[1]) {
			t.Fatalf("cut at %d of %d: resumes %s", cut, head, got.Run.ID)
		}
		done := strings.Count(string(whole[:cut]), `"succeeded"}`)
		if began && (len(got.Succeeded) != done || len(got.Unfinished()) != 3-done) {
			t.Fatalf("cut at %d: %d are done, got %+v", cut, done, got)
		}
	}
}

func TestResumeOfRunsInACircle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ids := keep(t, dir, past{steps: "a=failed"})
	path := filepath.Join(dir, ids[0], "meta.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	circle := strings.Replace(string(text), "{", `{"resumes": "`+ids[0]+`",`, 1)
	if err := os.WriteFile(path, []byte(circle), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("")})
	var refused *journal.ResumeError
	if !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

func TestResumePassesOverRunsThatDidNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ids := keep(t, dir, past{steps: "a=failed"})
	later := func(minutes int) string { return journal.NewID(start.Add(time.Duration(minutes) * time.Minute)) }
	if err := os.Mkdir(filepath.Join(dir, later(1)), 0o700); err != nil { // killed before anything was written
		t.Fatal(err)
	}
	if _, err := journal.Create(journal.Options{Dir: dir, ID: later(2), Meta: journal.Meta{Environment: dev}}); err != nil {
		t.Fatal(err) // and killed before the first event
	}
	got, err := journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("")})
	if err != nil || got.Run.ID != ids[0] {
		t.Errorf("got %+v, %v", got.Run, err)
	}
}

// TestResumePassesOverDamagedRunsOfOthers: a run that cannot be read stops the resumption of its own environment alone.
func TestResumePassesOverDamagedRunsOfOthers(t *testing.T) {
	t.Parallel()
	const other = `{"format":1,"operation":"up","provider":"kind","stack":"prod"}`
	for name, files := range map[string]map[string]string{
		"nothing readable":        {"meta.json": "{", "events.ndjson": ""},
		"another's, torn events":  {"meta.json": other, "events.ndjson": "rubbish\n{}\n"},
		"another's, events of it": {"meta.json": "{", "events.ndjson": `{"format":1,"type":"run_started","time":"2026-11-20T19:30:00Z","run":"r","operation":"up","provider":"kind","stack":"prod"}` + "\n"},
		"no meta, torn events":    {"events.ndjson": "rubbish\n{}\n"},
	} {
		dir := t.TempDir()
		ids := keep(t, dir, past{steps: "a=failed"})
		for file, content := range files {
			path := filepath.Join(dir, journal.NewID(start.Add(time.Hour)), file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("")})
		if err != nil || got.Run.ID != ids[0] {
			t.Errorf("%s: got %+v, %v", name, got.Run, err)
		}
	}
}

// TestResumeAfterAnEarlyKill: a run that was killed before its first event has everything left to do, or what it had
// chosen.
func TestResumeAfterAnEarlyKill(t *testing.T) {
	t.Parallel()
	killed := journal.Meta{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("")}
	narrow, other, destroyed := killed, killed, killed
	narrow.Selection, other.Stack, destroyed.Operation = []string{"--only", "a"}, "prod", operation.Destroy
	for name, test := range map[string]struct {
		meta journal.Meta
		want string
	}{
		"all projects":      {killed, ""},
		"some projects":     {narrow, "run up for all projects, or for those that it had: --only a"},
		"of another":        {other, "run up for all projects"},
		"another operation": {destroyed, "run up for all projects"},
	} {
		dir := t.TempDir()
		id := journal.NewID(start)
		if _, err := journal.Create(journal.Options{Dir: dir, ID: id, Meta: test.meta}); err != nil {
			t.Fatal(err)
		}
		got, err := journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("")})
		var refused *journal.ResumeError
		switch {
		case test.want == "" && (err != nil || !got.NothingBegan || got.Run.ID != id):
			t.Errorf("%s: got %+v, %v", name, got, err)
		case test.want != "" && (!errors.As(err, &refused) || refused.NextStep() != test.want):
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestResumeDoesNotPassOverADamagedRun(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"meta.json", "events.ndjson"} {
		dir := t.TempDir()
		ids := keep(t, dir, past{steps: "a=failed"}, past{steps: "a=succeeded"})
		if err := os.Remove(filepath.Join(dir, ids[1], "summary.json")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ids[1], file), []byte("rubbish\n{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up, Fingerprint: digestOf("")})
		if err == nil || !strings.Contains(err.Error(), ids[1]) {
			t.Errorf("%s: got %v", file, err)
		}
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	// Runs are words of project=seconds, with + if it was made from nothing and
	// ! if it failed.
	tests := map[string]struct {
		runs []string
		new  func(string) bool
		want string
	}{
		"none":               {},
		"median of the last": {runs: []string{"a=100", "a=90", "a=5", "a=1", "a=4", "a=2", "a=3"}, want: "a=3s"},
		"of two":             {runs: []string{"a=10 b=7", "a=20"}, want: "a=20s b=7s"},
		"failures say nothing": {
			runs: []string{"a=10", "a=1!"}, want: "a=10s",
		},
		"any":     {runs: []string{"a=600+", "a=1", "a=2"}, want: "a=2s"},
		"made":    {runs: []string{"a=600+ b=300+", "a=1 b=1", "a=2 b=2"}, new: func(string) bool { return true }, want: "a=10m0s b=5m0s"},
		"updated": {runs: []string{"a=600+ b=300+", "a=1 b=3"}, new: func(string) bool { return false }, want: "a=1s b=3s"},
		"both":    {runs: []string{"a=600+ b=300+", "a=1 b=1"}, new: func(name string) bool { return name == "a" }, want: "a=10m0s b=1s"},
		"unknown": {runs: []string{"a=1"}, new: func(string) bool { return true }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for i, run := range tt.runs {
				write(t, dir, start.Add(time.Duration(i)*time.Minute), timed(run))
			}
			write(t, dir, start.Add(time.Hour), past{operation: operation.Destroy, steps: "a=succeeded"}.events())
			write(t, dir, start.Add(time.Hour), past{stack: "prod", steps: "a=succeeded"}.events())
			if err := os.Mkdir(filepath.Join(dir, journal.NewID(start.Add(time.Hour))), 0o700); err != nil {
				t.Fatal(err)
			}
			got := journal.Recent(dir, dev, operation.Up).Durations(tt.new)
			var words []string
			for _, name := range []string{"a", "b"} {
				if d, ok := got[name]; ok {
					words = append(words, fmt.Sprintf("%s=%s", name, d))
				}
			}
			if text := strings.Join(words, " "); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
}

// timed makes the events of a run out of durations.
func timed(text string) []event.Event {
	events := past{}.events()
	for word := range strings.FieldsSeq(text) {
		name, rest, _ := strings.Cut(word, "=")
		e := event.Event{Time: start, Type: event.StepFinished, Project: name, Result: event.Succeeded, Changes: &event.Changes{Same: 2}}
		if number, failed := strings.CutSuffix(rest, "!"); failed {
			rest, e.Result = number, event.Failed
		}
		if number, made := strings.CutSuffix(rest, "+"); made {
			rest, e.Changes = number, &event.Changes{Create: 3}
		}
		d, err := time.ParseDuration(rest + "s")
		if err != nil {
			panic(err)
		}
		e.DurationMS = d.Milliseconds()
		events[0].Projects = append(events[0].Projects, event.Project{Name: name})
		events = append(events, event.Event{Time: start, Type: event.StepStarted, Project: name}, e)
	}
	return events
}

func TestResources(t *testing.T) {
	t.Parallel()
	up := func(results string, changes event.Changes) []event.Event {
		events := past{steps: results}.events()
		for i := range events {
			if events[i].Type == event.StepFinished {
				events[i].Changes = &changes
			}
		}
		return events
	}
	dir := t.TempDir()
	for i, events := range [][]event.Event{
		up("a=succeeded b=succeeded c=failed", event.Changes{Create: 7}),
		up("a=succeeded b=failed", event.Changes{Create: 1, Update: 1, Replace: 1, Delete: 2, Same: 4}),
		past{operation: operation.Destroy, steps: "a=succeeded"}.events(),
		past{stack: "prod", steps: "a=succeeded"}.events(),
	} {
		write(t, dir, start.Add(time.Duration(i)*time.Minute), events)
	}
	if diff := cmp.Diff(map[string]int{"a": 7, "b": 7}, journal.Recent(dir, dev, operation.Up).Resources()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDurationsLookAtRecentRunsOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, start, timed("old=5"))
	for i := range 20 {
		write(t, dir, start.Add(time.Duration(i+1)*time.Minute), timed("a=1"))
	}
	got := journal.Recent(dir, dev, operation.Up).Durations(nil)
	if diff := cmp.Diff(map[string]time.Duration{"a": time.Second}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestResumeOfRecordedRuns(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		events []event.Event
		want   string
	}{
		"failure":     {events: eventtest.Failure(), want: "kubeconfig secrets kic-image-build kic-image-push"},
		"interrupted": {events: eventtest.Interrupted(), want: "kind-registry secrets kic-image-build kic-image-push"},
		"success":     {events: eventtest.Success()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, start, tt.events)
			got, err := journal.Resume(dir, journal.Query{Environment: dev, Operation: operation.Up})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got.Unfinished(), " ") != tt.want {
				t.Errorf("got %v, want %s", got.Unfinished(), tt.want)
			}
		})
	}
}
