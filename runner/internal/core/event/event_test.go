package event_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/needs"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/testing/eventtest"
)

var update = flag.Bool("update", false, "write the golden files")

// everyType returns one event of each type with every field that it uses.
func everyType() []event.Event {
	at := func(seconds int) time.Time {
		return time.Date(2026, 11, 20, 19, 30, seconds, 250_000_000, time.UTC)
	}
	const run, name, title = "20261120-193000-250abc", "kind-cluster", "Kind Cluster"
	return []event.Event{
		{Time: at(0), Run: run, Type: event.RunStarted, Format: event.Format, Operation: operation.Up, Provider: "kind", Stack: "dev",
			Simulated: true, Parallel: 4, Projects: []event.Project{
				{Name: name, Title: title},
				{Name: "kind-registry", Title: "Local Registry", Needs: needs.Needs{Reads: []string{name}, After: []string{"secrets"}}},
			}, Excluded: []event.Exclusion{{Name: "logstore", Title: "Logstore", Reason: "--skip logstore+"}}},
		{Time: at(1), Run: run, Type: event.RunWarning, Project: name, Message: "reads aws-vpc, which is not declared"},
		{Time: at(2), Run: run, Type: event.StepStarted, Project: name, Title: title},
		{Time: at(3), Run: run, Type: event.StepProgress, Project: name, Title: title,
			Resource: event.Resource{Type: "kind:index:Cluster", Name: "dev"},
			Action:   event.Create, Status: event.ActionDone, Counts: &event.Changes{Create: 1}},
		{Time: at(3), Run: run, Type: event.StepOutputs, Project: name, Title: title, Outputs: []event.OutputChange{
			{Name: "endpoint", Action: event.Update, Before: "https://a", After: event.Unknown},
			{Name: "kubeconfig", Action: event.Create, After: event.Masked},
			{Name: "nodes", Action: event.Delete, Before: []any{"<a>", 1.0}}}},
		{Time: at(3), Run: run, Type: event.StepRetrying, Project: name, Title: title, Error: "too many requests", Attempt: 2, WaitMS: 5000},
		{Time: at(4), Run: run, Type: event.StepLog, Project: name, Title: title, Severity: event.Error,
			Message: "port 80 is taken <by> another & process", Resource: event.Resource{Type: "kind:index:Cluster", Name: "dev"}},
		{Time: at(5), Run: run, Type: event.HookStarted, Project: name, Title: title, Hook: "kubeconfig"},
		{Time: at(6), Run: run, Type: event.HookFinished, Project: name, Title: title, Hook: "kubeconfig",
			Result: event.Failed, DurationMS: 1000, Error: "permission denied"},
		{Time: at(7), Run: run, Type: event.StepFinished, Project: name, Title: title, Result: event.Failed,
			Changes: &event.Changes{Create: 1, Same: 2}, DurationMS: 5000, Error: "hook kubeconfig: permission denied", Attempt: 2},
		{Time: at(8), Run: run, Type: event.RunStopping, Reason: "interrupted", Waiting: []string{"kind-registry"}},
		{Time: at(9), Run: run, Type: event.StepFinished, Project: "kind-registry", Title: "Local Registry", Result: event.Skipped,
			Reason: "needs kind-cluster, which failed", Causes: []string{name}, Changes: &event.Changes{}},
		{Time: at(9), Run: run, Type: event.RunCosts, Costs: &event.Costs{Currency: "USD", Monthly: 36, Change: 36, Oldest: "2026-11-01", Items: []event.Cost{
			{Project: name, Type: "linode:index/instance:Instance", Name: "node", What: "g6-standard-2", Monthly: 36, Source: "https://example.com/prices"},
		}, Unknown: []string{"traffic"}}},
		{Time: at(9), Run: run, Type: event.RunPlan, Plan: &event.SavedPlan{File: "plan.json", Digest: "sha256:00ff"}},
		{Time: at(10), Run: run, Type: event.RunFinished, Result: event.Failed, DurationMS: 10000,
			Results: &event.Results{Failed: 1, Skipped: 1}, Changes: &event.Changes{Create: 1, Same: 2}},
	}
}

func encode(t *testing.T, events []event.Event) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, e := range events {
		line, err := event.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
	}
	return b.Bytes()
}

func TestMarshalGolden(t *testing.T) {
	t.Parallel()
	const golden = "testdata/events.ndjson"
	got := encode(t, everyType())
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the wire format changed (-want +got):\n%s", diff)
	}
}

func TestGoldenHoldsEveryType(t *testing.T) {
	t.Parallel()
	seen := map[event.Type]bool{}
	for _, e := range everyType() {
		seen[e.Type] = true
	}
	for _, typ := range eventtest.Types() {
		if !seen[typ] {
			t.Errorf("no event of type %s", typ)
		}
	}
	if len(seen) != len(eventtest.Types()) {
		t.Errorf("%d types in the golden file, %d in Types", len(seen), len(eventtest.Types()))
	}
}

func TestDecodeIsTheInverse(t *testing.T) {
	t.Parallel()
	want := everyType()
	var got []event.Event
	for e, err := range event.Decode(bytes.NewReader(encode(t, want))) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in      string
		want    int // events before the end
		wantErr string
	}{
		"nothing":              {in: ""},
		"empty lines":          {in: "\n\n{\"type\":\"step.log\"}\n \r\n", want: 1},
		"no last line end":     {in: "{\"type\":\"step.log\"}\n{\"type\":\"step.log\"}", want: 2},
		"last line cut off":    {in: "{\"type\":\"step.log\"}\n{\"type\":\"st", want: 1, wantErr: "line 2: last event is cut off"},
		"rubbish in between":   {in: "{\"type\":\"step.log\"}\nhello\n{}\n", want: 1, wantErr: "line 2: not an event"},
		"no type":              {in: "{}\n", wantErr: `line 1: not an event: no "type"`},
		"unknown type":         {in: "{\"type\":\"step.danced\",\"tune\":3}\n", want: 1},
		"newer format":         {in: "{\"type\":\"run.started\",\"format\":99}\n", wantErr: "line 1: event format 99 is newer"},
		"longer than a buffer": {in: "{\"type\":\"step.log\",\"message\":\"" + strings.Repeat("x", 1<<20) + "\"}\n", want: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, failure := 0, ""
			for _, err := range event.Decode(strings.NewReader(tt.in)) {
				if err != nil {
					failure = err.Error()
					continue
				}
				n++
			}
			if n != tt.want {
				t.Errorf("got %d events, want %d", n, tt.want)
			}
			if !strings.HasPrefix(failure, tt.wantErr) || (tt.wantErr == "") != (failure == "") {
				t.Errorf("got error %q, want %q", failure, tt.wantErr)
			}
		})
	}
}

func TestDecodeTruncatedIsRecognisable(t *testing.T) {
	t.Parallel()
	for _, err := range event.Decode(strings.NewReader(`{"type":`)) {
		if !errors.Is(err, event.ErrTruncated) {
			t.Errorf("got %v, want ErrTruncated", err)
		}
	}
}

func TestDecodeStopsWhenAsked(t *testing.T) {
	t.Parallel()
	n := 0
	for range event.Decode(strings.NewReader("{\"type\":\"a\"}\n{\"type\":\"b\"}\n")) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("yielded %d events after break", n)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	var c event.Changes
	for _, a := range []event.Action{event.Create, event.Update, event.Update, event.Replace, event.Delete, event.Same, event.Read, event.Reload, event.Import} {
		c = c.Count(a)
	}
	want := event.Changes{Create: 1, Update: 2, Replace: 1, Delete: 1, Same: 1}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if sum := c.Plus(c).Total(); sum != 12 {
		t.Errorf("total of twice is %d, want 12", sum)
	}
	if (event.Changes{Same: 3}).Any() || !(event.Changes{Delete: 1}).Any() {
		t.Error("Any must look at changes only")
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   []event.Result
		want event.Result
	}{
		"nothing to do":         {want: event.Succeeded},
		"all well":              {in: []event.Result{event.Succeeded, event.Skipped}, want: event.Succeeded},
		"a failure":             {in: []event.Result{event.Succeeded, event.Failed, event.Skipped}, want: event.Failed},
		"failed and then ended": {in: []event.Result{event.Failed, event.Cancelled}, want: event.Interrupted},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r event.Results
			for _, one := range tt.in {
				r = r.Count(one)
			}
			if got := r.Outcome(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestResourceString(t *testing.T) {
	t.Parallel()
	got := []string{event.Resource{Type: "a:b:C", Name: "d"}.String(), event.Resource{Name: "d"}.String()}
	if want := []string{"a:b:C d", "d"}; !slices.Equal(want, got) {
		t.Errorf("got %q, want %q", got, want)
	}
}
