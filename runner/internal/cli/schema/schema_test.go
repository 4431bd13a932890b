package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"mara/providers"
	"mara/runner/internal/cli/schema"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/report"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/testing/uitest"
)

// compile reads a schema, which must itself be good.
func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := schema.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name+".json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// validate checks a text against a schema.
func validate(s *jsonschema.Schema, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

// runs returns recorded and played runs, one of them unfinished.
func runs() map[string][]event.Event {
	all := map[string][]event.Event{
		"aws":         uitest.Play(uitest.AWS()),
		"failure":     uitest.Play(uitest.AWSFailure()),
		"interrupted": uitest.Play(uitest.AWSInterrupted()),
		"broken off":  uitest.Play(uitest.AWS())[:20],
	}
	for _, run := range eventtest.All() {
		all[run.Name] = run.Events
	}
	retried := eventtest.Success()
	retried[0].Excluded = []event.Exclusion{{Name: "logstore", Title: "Logstore", Reason: "--skip logstore"}}
	again := event.Event{Type: event.StepRetrying, Time: retried[1].Time, Project: retried[1].Project, Error: "too many requests", Attempt: 2, WaitMS: 5000}
	all["retried"] = slices.Insert(retried, 2, again)
	costs := event.Event{Type: event.RunCosts, Time: retried[1].Time, Costs: &event.Costs{
		Currency: "USD", Monthly: 144, Change: 144, Oldest: "2026-11-01", Unpriced: []string{"a:b:C"}, Unknown: []string{"x"}, Gaps: []string{"p n: no price"},
		Items: []event.Cost{{Project: "lke", Type: "t", Name: "n", What: "three nodes", Monthly: 144, Source: "https://example.com"}},
	}}
	plan := event.Event{Type: event.RunPlan, Time: retried[1].Time, Plan: &event.SavedPlan{File: "plan.json", Digest: "sha256:" + strings.Repeat("0f", 32)}}
	all["costs"] = slices.Insert(eventtest.Success(), 2, costs, plan)
	return all
}

func TestEventsAreValid(t *testing.T) {
	t.Parallel()
	s := compile(t, "events")
	seen := map[event.Type]bool{}
	for name, events := range runs() {
		var b bytes.Buffer
		out := ui.NewJSON(&b)
		for _, e := range events {
			seen[e.Type] = true
			out.Emit(e)
		}
		for line := range bytes.Lines(b.Bytes()) {
			if err := validate(s, line); err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
			}
		}
	}
	if got, want := slices.Sorted(maps.Keys(seen)), slices.Sorted(slices.Values(eventtest.Types())); !slices.Equal(got, want) {
		t.Errorf("only these types were checked: %v", got)
	}
}

func TestWrongEventsAreNotValid(t *testing.T) {
	t.Parallel()
	s := compile(t, "events")
	tests := map[string]string{
		"no type":                  `{"time":"2026-11-20T19:30:00Z"}`,
		"no time":                  `{"type":"step.started","project":"a"}`,
		"a time that is none":      `{"time":"now","type":"step.started","project":"a"}`,
		"no project":               `{"time":"2026-11-20T19:30:00Z","type":"step.started"}`,
		"unknown result":           `{"time":"2026-11-20T19:30:00Z","type":"hook.finished","project":"a","hook":"h","result":"fine"}`,
		"a result of another type": `{"time":"2026-11-20T19:30:00Z","type":"hook.finished","project":"a","hook":"h","result":"skipped"}`,
		"a newer format":           `{"time":"2026-11-20T19:30:00Z","type":"run.started","format":2,"operation":"up","provider":"kind","stack":"dev","projects":[]}`,
		"counts that lack one":     `{"time":"2026-11-20T19:30:00Z","type":"step.finished","project":"a","result":"failed","changes":{"create":1}}`,
	}
	for name, text := range tests {
		if validate(s, []byte(text)) == nil {
			t.Errorf("%s: valid", name)
		}
	}
	if err := validate(s, []byte(`{"time":"2026-11-20T19:30:00Z","type":"step.something-new","more":true}`)); err != nil {
		t.Errorf("a type of the future: %v", err)
	}
}

func TestSummariesAreValid(t *testing.T) {
	t.Parallel()
	s := compile(t, "summary")
	for name, events := range runs() {
		var b bytes.Buffer
		if err := report.Write(&b, report.JSON, eventtest.Summary(events), report.Details{}); err != nil {
			t.Fatal(err)
		}
		if err := validate(s, b.Bytes()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJournalIsValid(t *testing.T) {
	t.Parallel()
	events, summary := compile(t, "events"), compile(t, "summary")
	j, err := journal.Create(journal.Options{Dir: t.TempDir(), ID: journal.NewID(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range eventtest.Failure() {
		j.Emit(e)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(read(t, j.Dir()+"/events.ndjson")) {
		if err := validate(events, line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if err := validate(summary, read(t, j.Dir()+"/summary.json")); err != nil {
		t.Error(err)
	}
}

func TestPlansAreValid(t *testing.T) {
	t.Parallel()
	s := compile(t, "plan")
	for _, provider := range providers.All() {
		up, err := plan.New(provider)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []plan.Plan{up, up.Reverse()} {
			text, err := plan.Render(p, plan.JSON, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(s, []byte(text)); err != nil {
				t.Errorf("%s: %v", provider.Name, err)
			}
		}
	}
}

// TestReportsAreValid: a report with findings of every status, and an empty one.
func TestReportsAreValid(t *testing.T) {
	t.Parallel()
	s := compile(t, "doctor")
	var full preflight.Report
	for i, group := range preflight.Groups() {
		status := preflight.Statuses()[i%len(preflight.Statuses())]
		full.Results = append(full.Results, preflight.Result{
			Name: "x", Title: "X", Group: group, Status: status,
			Findings: []preflight.Finding{{Status: status, Text: "seen", Remedy: "do"}, {Status: preflight.OK, Text: "seen"}},
		})
	}
	for name, report := range map[string]preflight.Report{"full": full, "empty": {Results: []preflight.Result{}}} {
		text, err := json.Marshal(preflight.Document{Operation: "up", Provider: "aws", Stack: "dev"}.Fill(report))
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(s, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"nothing":          `{}`,
		"a newer format":   `{"version":2,"operation":"up","provider":"","stack":"","simulated":false,"status":"ok","counts":{"ok":0,"skipped":0,"warning":0,"problem":0},"checks":[]}`,
		"another status":   `{"version":1,"operation":"up","provider":"","stack":"","simulated":false,"status":"fine","counts":{"ok":0,"skipped":0,"warning":0,"problem":0},"checks":[]}`,
		"a count is lost":  `{"version":1,"operation":"up","provider":"","stack":"","simulated":false,"status":"ok","counts":{"ok":0},"checks":[]}`,
		"a silent finding": `{"version":1,"operation":"up","provider":"","stack":"","simulated":false,"status":"ok","counts":{"ok":0,"skipped":0,"warning":0,"problem":0},"checks":[{"name":"x","title":"X","group":"tools","status":"ok","findings":[{"status":"ok"}]}]}`,
	} {
		if validate(s, []byte(text)) == nil {
			t.Errorf("%s: valid", name)
		}
	}
}

// members lists the names of a struct's members in JSON, embedded ones included.
func members(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			names = append(names, members(f.Type)...)
		case f.IsExported() && name != "-":
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestSchemasKnowEveryMember(t *testing.T) {
	t.Parallel()
	tests := []struct {
		schema, def string
		in          any
	}{
		{"events", "", event.Event{}},
		{"events", "project", event.Project{}},
		{"events", "exclusion", event.Exclusion{}},
		{"events", "resource", event.Resource{}},
		{"events", "changes", event.Changes{}},
		{"events", "results", event.Results{}},
		{"events", "costs", event.Costs{}},
		{"summary", "costs", event.Costs{}},
		{"events", "finding", event.Finding{}},
		{"summary", "finding", event.Finding{}},
		{"summary", "", event.Summary{}},
		{"summary", "step", event.Step{}},
		{"summary", "exclusion", event.Exclusion{}},
		{"summary", "hook", event.Hook{}},
		{"summary", "diagnostic", event.Diagnostic{}},
		{"summary", "alert", event.Alert{}},
		{"summary", "savedPlan", event.SavedPlan{}},
		{"plan", "", plan.Document{}},
		{"plan", "step", plan.DocumentStep{}},
		{"saved-plan", "", updateplan.Document{}},
		{"saved-plan", "project", updateplan.Project{}},
		{"saved-plan", "step", updateplan.Step{}},
		{"doctor", "", preflight.Document{}},
		{"doctor", "check", preflight.Result{}},
		{"doctor", "finding", preflight.Finding{}},
	}
	for _, tt := range tests {
		t.Run(tt.schema+" "+tt.def, func(t *testing.T) {
			t.Parallel()
			text, err := schema.Get(tt.schema)
			if err != nil {
				t.Fatal(err)
			}
			type object struct{ Properties map[string]any }
			var s struct {
				object
				Defs map[string]object `json:"$defs"`
			}
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			got := s.Properties
			if tt.def != "" {
				got = s.Defs[tt.def].Properties
			}
			if diff := cmp.Diff(members(reflect.TypeOf(tt.in)), slices.Sorted(maps.Keys(got))); diff != "" {
				t.Errorf("(-structure +schema):\n%s", diff)
			}
		})
	}
}

func TestSchemaSaysItsVersion(t *testing.T) {
	t.Parallel()
	for _, name := range schema.Names() {
		text, err := schema.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if want := `"$id": "urn:mara:schema:` + name + `:1"`; !strings.Contains(string(text), want) || !strings.HasSuffix(string(text), "}\n") {
			t.Errorf("%s: no %s", name, want)
		}
	}
	if event.Format != 1 || event.SummaryFormat != 1 || preflight.Format != 1 {
		t.Error("a format has a new version: it needs a new schema")
	}
}

func TestUnknownSchema(t *testing.T) {
	t.Parallel()
	project, err := schema.Get("project")
	if byFile, sameErr := schema.Get("mara"); err != nil || sameErr != nil || string(byFile) != string(project) {
		t.Errorf("the schema of mara.yaml by the file's name: %v, %v", err, sameErr)
	}
	if _, err := schema.Get("../schema.go"); !errors.Is(err, schema.ErrUnknown) || !strings.Contains(err.Error(), "events, summary, plan, status, history, doctor") {
		t.Errorf("got %v", err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
