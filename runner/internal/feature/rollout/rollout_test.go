package rollout

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/operate"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/testing/cmdtest"
)

// TestAGateAsksForItself: what a rollout selects, resumes and allows is not what its gates look at.
func TestAGateAsksForItself(t *testing.T) {
	t.Parallel()
	var asked operate.Request
	asked.Operation, asked.Selection = operation.Up, plan.Selection{Only: []string{"shop"}}
	asked.Allow, asked.Rest.Resume = []string{"dev"}, true
	r := &rollout{Request: asked, force: true}
	own := r.request(operation.Up, "dev")
	if !own.Rest.Resume || own.SessionOptions().Narrow == nil || !own.Force || own.Stack.Text != "dev" {
		t.Errorf("the rollout asks for %+v", own)
	}
	gate := r.request(operation.Drift, "dev")
	if gate.Rest.Resume || len(gate.Selection.Only)+len(gate.Allow) > 0 || gate.SessionOptions().Narrow != nil || gate.Force {
		t.Errorf("the gate asks for %+v", gate)
	}
	if gate.Operation != operation.Drift || !gate.Yes || gate.Stack.Text != "dev" {
		t.Errorf("the gate does %s of %q, yes: %v", gate.Operation, gate.Stack.Text, gate.Yes)
	}
}

// TestAnEnvironmentLooksAtItsOwnRollout: the checks before an environment is locked are about the projects that it is
// going to run. A run that is not of the resumed rollout has nothing to say about them.
func TestAnEnvironmentLooksAtItsOwnRollout(t *testing.T) {
	t.Parallel()
	s := cmdtest.LastUp(t, map[string]event.Result{"kind-cluster": event.Succeeded, "kubeconfig": event.Failed})
	r := &rollout{resumes: []string{"20261120-000000-aaaaaa"}}
	r.Operation, r.Rest.Resume = operation.Up, true
	if got := r.request(operation.Up, "dev").SessionOptions().Narrow(s); len(got.Only)+len(got.Skip) > 0 {
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
