package sarif_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/sarif"
)

// TestNew: every result has the physical location that code scanning asks for, and
// the rule that it names.
func TestNew(t *testing.T) {
	t.Parallel()
	log := sarif.New(sarif.Options{Version: "1.2.3", ID: "preview/dev", Rules: map[string]string{"quiet": "finds nothing"}, Failed: true}, []sarif.Result{
		{event.Finding{Rule: "open", Level: event.LevelDeny, Message: "m", Project: "net", URN: "urn:x", File: "infra/my net/Main.yaml", Line: 3}, "dev: m"},
		{event.Finding{Rule: "limit", Level: event.LevelWarn, Message: "m", Exception: "known"}, "dev: m"},
	})
	got, err := json.MarshalIndent(log, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Details     struct{ ID string } `json:"automationDetails"`
			Invocations []struct{ ExecutionSuccessful bool }
			Results     []struct {
				RuleID       string
				RuleIndex    int
				Level        string
				Locations    []struct{ PhysicalLocation any }
				Fingerprints map[string]string `json:"partialFingerprints"`
				Suppressions []any
			}
		}
	}
	if err := json.Unmarshal(got, &made); err != nil {
		t.Fatal(err)
	}
	run := made.Runs[0]
	if run.Details.ID != "preview/dev/" || run.Invocations[0].ExecutionSuccessful {
		t.Errorf("%s", got)
	}
	place := func(file string, line int) any {
		return map[string]any{
			"artifactLocation": map[string]any{"uri": file, "uriBaseId": "%SRCROOT%"}, "region": map[string]any{"startLine": float64(line)},
		}
	}
	for i, want := range []struct {
		rule, level string
		place       any
		suppressed  int
	}{
		{"open", "error", place("infra/my%20net/Main.yaml", 3), 0},
		{"limit", "warning", place("mara.yaml", 1), 1},
	} {
		r := run.Results[i]
		if r.RuleID != want.rule || run.Tool.Driver.Rules[r.RuleIndex].ID != want.rule || r.Level != want.level || len(r.Suppressions) != want.suppressed {
			t.Errorf("%+v", r)
		}
		if diff := cmp.Diff(want.place, r.Locations[0].PhysicalLocation); diff != "" {
			t.Error(diff)
		}
	}
	if run.Results[0].Fingerprints["finding/v1"] == run.Results[1].Fingerprints["finding/v1"] {
		t.Error("two findings have one fingerprint")
	}
}

// TestErrors: what failed says why, where code scanning shows it. A run that has succeeded says nothing.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, why := range [][]string{nil, {"net: the quota is used up", "db: no <such> host"}} {
		got, err := json.Marshal(sarif.New(sarif.Options{ID: "up/dev", Failed: why != nil, Errors: why}, nil))
		if err != nil {
			t.Fatal(err)
		}
		var made struct {
			Runs []struct {
				Invocations []map[string]any
				Results     []any
			}
		}
		if err := json.Unmarshal(got, &made); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"executionSuccessful": why == nil}
		if why != nil {
			var all []any
			for _, text := range why {
				all = append(all, map[string]any{"level": "error", "message": map[string]any{"text": text}})
			}
			want["toolExecutionNotifications"] = all
		}
		if diff := cmp.Diff([]map[string]any{want}, made.Runs[0].Invocations); diff != "" || made.Runs[0].Results == nil {
			t.Errorf("(-want +got):\n%s\n%s", diff, got)
		}
	}
}
