package view

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mara/runner/internal/core/record"
	"mara/runner/internal/machine/layout"
)

// TestDriftIsVoidAfterAWrite: what a comparison has found counts until a run writes, of this machine's journal or of
// the record that all machines share; a run that only reads voids nothing.
func TestDriftIsVoidAfterAWrite(t *testing.T) {
	t.Parallel()
	dir := layout.Of(t.TempDir(), false)
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	content, err := json.Marshal(map[string]any{"format": 1, "at": at, "whole": true,
		"projects": []any{map[string]any{"name": "p", "result": "succeeded", "changes": map[string]int{"update": 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	path := dir.Drift("eu")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(after time.Duration) *Past {
		return &Past{PastRun: PastRun{Started: at.Add(after), Result: "succeeded"}}
	}
	for name, test := range map[string]struct {
		lately Lately
		ended  time.Time
		void   bool
	}{
		"nothing since":                  {},
		"a write before":                 {lately: Lately{Write: run(-time.Hour)}, ended: at.Add(-time.Minute)},
		"a write after":                  {lately: Lately{Write: run(time.Hour)}, void: true},
		"a write of another machine":     {ended: at.Add(time.Minute), void: true},
		"a preview after":                {lately: Lately{Any: run(time.Hour), Preview: run(time.Hour)}},
		"a write before, a preview then": {lately: Lately{Write: run(-time.Hour), Any: run(time.Hour)}},
	} {
		e := Environment{Name: "eu", Provider: "kind", Lately: test.lately}
		verdict := record.Verdict{State: record.IsUpToDate, Ended: test.ended}
		e.take(map[string]comparison{"eu": {verdict: verdict}}, at.Add(2*time.Hour), dir, false)
		if e.Drift == nil || e.Drift.Void != test.void {
			t.Errorf("%s: %+v", name, e.Drift)
		}
		if want := map[bool]State{true: UpToDate, false: Drifted}[test.void]; e.State != want {
			t.Errorf("%s: %s, want %s", name, e.State, want)
		}
	}
}
