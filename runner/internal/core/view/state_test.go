package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/record"
)

// TestStates: the worst state that holds is the environment's word, all reasons are said, and what is not known is
// never up to date.
func TestStates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	up := func(result event.Result) *Past {
		return &Past{PastRun: PastRun{Operation: operation.Up, Result: result}}
	}
	stopped := func(id string, result event.Result, cutOff bool) *Past {
		return &Past{Projects: []string{"net", "db"}, PastRun: PastRun{ID: id, Operation: operation.Up, Result: result, CutOff: cutOff,
			Started: now.Add(-10 * time.Minute), DurationMS: (3 * time.Minute).Milliseconds(), Standing: "1 of 2 projects done, 1 cut off"}}
	}
	drift := &record.Drift{At: now.Add(-time.Hour), Projects: []record.ProjectDrift{{Name: "db", Changes: event.Changes{Update: 2}}}}
	void := *drift
	void.Void = true
	fine := record.Verdict{State: record.IsUpToDate}
	for name, test := range map[string]struct {
		e    Environment
		want State
		says string
	}{
		"fine":             {Environment{Verdict: fine}, UpToDate, ""},
		"nothing known":    {Environment{}, Unknown, "nothing is known"},
		"broken file":      {Environment{Error: "config/x.yaml:3: wrong"}, Unknown, "x.yaml:3"},
		"broken and drift": {Environment{Error: "wrong", Drift: drift}, Unknown, "wrong; 2 resources of db differ, compared 60m ago"},
		"failed": {
			Environment{Verdict: record.Verdict{State: record.HasFailed, Failed: []string{"db (up, x)"}, Missing: []string{"web"}}},
			Failed, "did not succeed: db (up, x); never rolled out: web",
		},
		"cut off": {Environment{Verdict: record.Verdict{State: record.IsUnfinished, Begun: "up in run x"}}, Unfinished, "up in run x has not ended"},
		"cut off, with its events": {
			Environment{Verdict: record.Verdict{State: record.IsUnfinished, Begun: "up in run x", Missing: []string{"net", "web"}, Failed: []string{"db (up, w)"}},
				Lately: Lately{Write: stopped("x", event.Interrupted, true)}},
			Unfinished, "up was cut off 7m ago: 1 of 2 projects done, 1 cut off; never rolled out: web",
		},
		"cut off elsewhere": {
			Environment{Verdict: record.Verdict{State: record.IsUnfinished, Begun: "up in run y on b", Missing: []string{"net"}},
				Lately: Lately{Write: stopped("x", event.Interrupted, true)}},
			Unfinished, "up in run y on b has not ended; never rolled out: net",
		},
		"interrupted": {
			Environment{Verdict: record.Verdict{State: record.IsPartly, Run: "x", Missing: []string{"net"}, Stopped: []string{"db (up, x)"}},
				Lately: Lately{Write: stopped("x", event.Interrupted, false)}},
			Unfinished, "up was interrupted 7m ago: 1 of 2 projects done, 1 cut off",
		},
		"interrupted, without its events": {
			Environment{Verdict: record.Verdict{State: record.IsUnfinished, Run: "x", Stopped: []string{"db (up, x)"}}},
			Unfinished, "did not come to their end: db (up, x)",
		},
		"failed, with its events": {
			Environment{Verdict: record.Verdict{State: record.HasFailed, Run: "x", Failed: []string{"db (up, x)"}, Missing: []string{"net"}},
				Lately: Lately{Write: stopped("x", event.Failed, false)}},
			Failed, "up failed 7m ago: 1 of 2 projects done, 1 cut off",
		},
		"runs": {
			Environment{Verdict: record.Verdict{State: record.IsUnfinished, Begun: "up in run x"}, Lately: Lately{Live: up(ResultRunning)}},
			Running, "up",
		},
		"preview runs":         {Environment{Verdict: fine, Lately: Lately{Live: &Past{PastRun: PastRun{Operation: operation.Preview}}}}, UpToDate, ""},
		"dead lock":            {Environment{Verdict: fine, Lock: &Lock{Owner: "a@b", Dead: true}}, Locked, "whose process is gone"},
		"elsewhere":            {Environment{Verdict: fine, Lock: &Lock{Owner: "a@b", Operation: "up", Elsewhere: true, Since: now.Add(-time.Second)}}, Running, "another machine"},
		"elsewhere for long":   {Environment{Verdict: fine, Lock: &Lock{Owner: "a@b", Operation: "up", Elsewhere: true, Since: now.Add(-time.Hour)}}, Unknown, "cannot be seen from here"},
		"drifted":              {Environment{Verdict: fine, Drift: drift}, Drifted, "2 resources of db differ"},
		"drifted before":       {Environment{Verdict: fine, Drift: &void}, UpToDate, ""},
		"changed":              {Environment{Verdict: record.Verdict{State: record.HasChanged, Changes: []string{"a:b"}}}, Changed, "a:b"},
		"changed and drifted":  {Environment{Verdict: record.Verdict{State: record.HasChanged, Changes: []string{"a:b"}}, Drift: drift}, Drifted, "compared 60m ago; a:b"},
		"partly":               {Environment{Verdict: record.Verdict{State: record.IsPartly, Missing: []string{"web"}}}, Partly, "web"},
		"never":                {Environment{Verdict: record.Verdict{State: record.NeverRolledOut}, Drift: drift}, NeverRolledOut, ""},
		"destroyed":            {Environment{Verdict: record.Verdict{State: record.IsDestroyed}}, Destroyed, ""},
		"waits in a rollout":   {Environment{Name: "eu", Verdict: fine, Lately: Lately{Rollout: &Past{Waiting: []string{"eu"}, PastRun: PastRun{Operation: operation.Up}}}}, Waiting, "its turn"},
		"failed, then a retry": {Environment{Verdict: record.Verdict{State: record.HasFailed, Failed: []string{"x"}}, Lately: Lately{Live: up(ResultRunning)}}, Running, "up"},
	} {
		test.e.judge(now)
		if got := strings.Join(test.e.Reasons, "; "); test.e.State != test.want || !strings.Contains(got, test.says) {
			t.Errorf("%s: %s: %s, want %s: %s", name, test.e.State, got, test.want, test.says)
		}
	}
	for i, s := range States() {
		if s.Rank() != i || s.Mark() == "" || slices.Index(States(), s) != i {
			t.Errorf("%s: rank %d, mark %q", s, s.Rank(), s.Mark())
		}
	}
	if len(States()) != 12 || Unknown.Rank() > UpToDate.Rank() || !Unknown.IsTrouble() || Changed.IsTrouble() {
		t.Errorf("states %v", States())
	}
}

// TestTroubles: environments with one cause are one trouble.
func TestTroubles(t *testing.T) {
	t.Parallel()
	failed := func(name, text, run string) Environment {
		return Environment{Name: name, State: Failed, Lately: Lately{Write: &Past{PastRun: PastRun{ID: run}, Causes: []Cause{{Text: text}}}}}
	}
	f := Fleet{Environments: []Environment{
		{Name: "fine", State: UpToDate}, {Name: "dark", State: Unknown, Error: "bad file"}, failed("a", "no network", "r1"),
		failed("b", "quota", "r2"), failed("c", "no network", "r3"), {Name: "x", State: Unfinished}, {Name: "y", State: Unfinished},
	}}
	var got []string
	for _, trouble := range f.Troubles() {
		got = append(got, string(trouble.State)+" "+trouble.Text+": "+strings.Join(trouble.Environments, ","))
	}
	want := []string{"failed no network: a,c", "failed quota: b", "unfinished a run did not come to its end, and its process is gone: x,y", "unknown bad file: dark"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if counts := f.Counts(); counts[Failed] != 3 || counts[UpToDate] != 1 {
		t.Errorf("counts %v", counts)
	}
}
