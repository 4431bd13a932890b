package operations

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/fleet"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/testing/cmdtest"
)

// TestAGateAsksForItself: what a rollout selects, resumes and allows is not what its gates look at.
func TestAGateAsksForItself(t *testing.T) {
	t.Parallel()
	only := plan.Selection{Only: []string{"shop"}}
	var o rolloutOptions
	o.Operation, o.Options.Selection, o.Force, o.Allow = operation.Up, only, true, []string{"dev"}
	o.Selection = selectionOptions{Selection: only, Resume: true}
	r := &rollout{o: o}
	own := r.request(operation.Up, "dev", &part{})
	if !own.Selection.Resume || own.Narrow == nil || !own.Force || own.Stack.Text != "dev" {
		t.Errorf("the rollout asks for %+v", own.Selection)
	}
	other := r.request(operation.Up, "test", &part{})
	if own.losses == nil || own.losses == other.losses || own.estimate == other.estimate || own.saved == other.saved {
		t.Error("two environments share what their previews find")
	}
	gate := r.request(operation.Drift, "dev", &part{})
	if gate.losses == nil || gate.estimate == nil || gate.saved == nil {
		t.Error("a gate has no room for what its preview finds")
	}
	if gate.Selection.Resume || len(gate.Selection.Only)+len(gate.Options.Selection.Only)+len(gate.Allow) > 0 ||
		gate.Narrow != nil || gate.Force {
		t.Errorf("the gate asks for %+v, allows %v, narrow: %v", gate.Selection, gate.Allow, gate.Narrow != nil)
	}
	if gate.Operation != operation.Drift || !gate.Yes || gate.Stack.Text != "dev" {
		t.Errorf("the gate does %s of %q, yes: %v", gate.Operation, gate.Stack.Text, gate.Yes)
	}
}

// TestAnEnvironmentLooksAtItsOwnRollout: the checks before an environment is locked are about the projects that it is
// going to run. A run that is not of the resumed rollout has nothing to say about them.
func TestAnEnvironmentLooksAtItsOwnRollout(t *testing.T) {
	t.Parallel()
	s := lastUp(t, map[string]event.Result{"kind-cluster": event.Succeeded, "kubeconfig": event.Failed})
	var o rolloutOptions
	o.Operation, o.Selection.Resume = operation.Up, true
	r := &rollout{o: o}
	one := r.request(operation.Up, "dev", &part{resumes: []string{"20261120-000000-aaaaaa"}})
	if got := one.Narrow(s); len(got.Only)+len(got.Skip) > 0 {
		t.Errorf("it looks at %+v, and runs all projects", got)
	}
}

// TestNothingNewStartsAfterAnInterrupt: neither what waits for room, nor what gets room at that moment.
func TestNothingNewStartsAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	p := &part{stop: stop, room: make(chan struct{}, 1)}
	leave, err := p.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan error)
	go func() {
		_, err := p.enter(context.Background())
		waits <- err
	}()
	close(stop)
	if err := <-waits; !errors.Is(err, interrupt.ErrInterrupted) {
		t.Errorf("what waits for room got %v", err)
	}
	leave()
	for range 50 {
		if _, err := p.enter(t.Context()); !errors.Is(err, interrupt.ErrInterrupted) {
			t.Fatalf("with room it got %v", err)
		}
	}
	if len(p.room) > 0 {
		t.Error("a token is lost")
	}
}

func TestWhatIsPastItsTime(t *testing.T) {
	t.Parallel()
	now := cmdtest.Now()
	lives := []life{
		{born: now.Add(-2 * time.Hour), ttl: time.Hour},
		{born: now.Add(-time.Minute), ttl: time.Hour},
		{isUnknown: true, ttl: time.Hour},
		{isUnknown: true},
		{isUnknown: true, ttl: time.Hour, protected: config.Origin{File: "x"}},
		{ttl: time.Hour},
	}
	var chosen []fleet.Environment
	for _, name := range []string{"old", "young", "unknown", "forever", "protected", "empty"} {
		chosen = append(chosen, fleet.Environment{Stack: name})
	}
	for flag, want := range map[string]struct {
		past    []string
		refused bool
	}{
		refuseUnknown: {[]string{"old"}, true}, keepUnknown: {[]string{"old"}, false},
		destroyUnknown: {[]string{"old", "unknown"}, false},
	} {
		d, _, _ := cmdtest.Deps(t)
		past, err := reapOptions{UnknownAge: flag}.judge(d, chosen, lives)
		if !slices.Equal(past, want.past) || (err != nil) != want.refused {
			t.Errorf("%s: %v, %v", flag, past, err)
		}
	}
}

// TestAgeOfAnEnvironment: the oldest resource counts; a state without times tells nothing.
func TestAgeOfAnEnvironment(t *testing.T) {
	t.Parallel()
	var l life
	for state, want := range map[string]int{
		"": 0, "{}": 0, `{"resources":[{"urn":"x"},{"created":"2026-11-20T10:00:00Z"}]}`: 2,
		`{"resources":[{"created":"2026-11-20T11:00:00Z"}]}`: 1,
	} {
		if n, err := l.add([]byte(state)); err != nil || n != want {
			t.Errorf("%s: %d, %v", state, n, err)
		}
	}
	if want := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC); !l.born.Equal(want) {
		t.Errorf("born %s", l.born)
	}
}

// TestDriftGate: a drift that has compared no project does not let a wave pass.
func TestDriftGate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		summary event.Summary
		want    string
	}{
		"compared": {event.Summary{Results: event.Results{Succeeded: 2}}, ""},
		"changed": {
			event.Summary{Results: event.Results{Succeeded: 2}, Changes: event.Changes{Update: 1}}, "differs from its state",
		},
		"nothing compared": {
			event.Summary{Results: event.Results{Skipped: 2}},
			"no project of it was compared with its state; run ; --skip-gate drift continues without",
		},
	} {
		if err := checkDrift(test.summary); (err == nil) != (test.want == "") || err != nil &&
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
