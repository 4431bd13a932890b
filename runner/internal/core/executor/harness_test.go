package executor_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
)

// repeats is how often a test of the scheduler runs: failures between
// goroutines does so once in a while.
const repeats = 50

// planOf builds a plan from lines such as "c: a b", which says that c reads a
// and b. A name with an exclamation mark has the kubeconfig hook.
func planOf(lines ...string) plan.Plan {
	p := plan.Plan{Provider: "kind"}
	for i, line := range lines {
		name, reads, _ := strings.Cut(line, ":")
		name, hooked := strings.CutSuffix(name, "!")
		step := plan.Step{Project: model.Project{Name: name, Title: strings.ToUpper(name)}, Needs: needs.Needs{Reads: strings.Fields(reads)}, Index: i}
		if hooked {
			step.Project.Hooks = model.BuiltInHooks()[:1]
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}

// ending is how the test lets a step end.
type ending struct {
	out executor.Outcome
	err error
}

// gate is an operator whose steps end when the test says so, or when their
// context is cancelled.
type gate struct {
	mu      sync.Mutex
	running map[string]chan ending // guarded by mu
	peak    int                    // guarded by mu
}

func (g *gate) Operate(ctx context.Context, step plan.Step, _ func(event.Event)) (executor.Outcome, error) {
	end := make(chan ending)
	g.mu.Lock()
	g.running[step.Project.Name] = end
	g.peak = max(g.peak, len(g.running))
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.running, step.Project.Name)
		g.mu.Unlock()
	}()
	select {
	case e := <-end:
		return e.out, e.err
	case <-ctx.Done():
		return executor.Outcome{Changes: event.Changes{Create: 1}}, fmt.Errorf("exit status 1")
	}
}

// harness drives one run step by step inside a synctest bubble.
type harness struct {
	t    *testing.T
	gate *gate
	stop chan struct{}
	end  chan struct{} // closed when Run has returned

	mu     sync.Mutex
	events []event.Event // guarded by mu

	result executor.Result // valid when end is closed
	err    error           // valid when end is closed
}

// begin starts a run; change may alter the options.
func begin(ctx context.Context, t *testing.T, p plan.Plan, change func(*executor.Options)) *harness {
	t.Helper()
	h := &harness{t: t, gate: &gate{running: map[string]chan ending{}}, stop: make(chan struct{}), end: make(chan struct{})}
	o := executor.Options{Plan: p, Operation: operation.Up, Stack: "dev", Parallel: 2, Operator: h.gate, Emit: h.record, Stop: h.stop}
	if change != nil {
		change(&o)
	}
	go func() {
		defer close(h.end)
		h.result, h.err = executor.Run(ctx, o)
	}()
	return h
}

func (h *harness) record(e event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

// expectRunning waits until nothing moves any more and checks what runs.
func (h *harness) expectRunning(want ...string) {
	h.t.Helper()
	synctest.Wait()
	h.gate.mu.Lock()
	defer h.gate.mu.Unlock()
	got := make([]string, 0, len(want))
	for name := range h.gate.running {
		got = append(got, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); len(want)+len(got) > 0 && diff != "" {
		h.t.Fatalf("running (-want +got):\n%s", diff)
	}
}

// succeed, skip and fail end a running step.
func (h *harness) succeed(name string) { h.t.Helper(); h.finish(name, ending{}) }

func (h *harness) skip(name, reason string) {
	h.t.Helper()
	h.finish(name, ending{out: executor.Outcome{Skipped: reason}})
}

func (h *harness) fail(name string) {
	h.t.Helper()
	h.finish(name, ending{err: fmt.Errorf("%s broke", name)})
}

func (h *harness) finish(name string, e ending) {
	h.t.Helper()
	synctest.Wait()
	h.gate.mu.Lock()
	end, ok := h.gate.running[name]
	h.gate.mu.Unlock()
	if !ok {
		h.t.Fatalf("%s does not run", name)
	}
	end <- e
}

// wait returns when the run has ended.
func (h *harness) wait() (executor.Result, error) {
	h.t.Helper()
	synctest.Wait()
	select {
	case <-h.end:
		return h.result, h.err
	default:
		h.t.Fatal("the run has not ended")
		return executor.Result{}, nil
	}
}

// lines renders the results, one line a step.
func lines(r executor.Result) []string {
	out := make([]string, 0, len(r.Steps))
	for _, s := range r.Steps {
		line := s.Project + " " + string(s.Result)
		if s.Reason != "" {
			line += ": " + s.Reason
		}
		if s.Causes != nil {
			line += " <- " + strings.Join(s.Causes, " ")
		}
		out = append(out, line)
	}
	return out
}

// expectLines compares the results.
func expectLines(t *testing.T, r executor.Result, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, lines(r)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// repeated runs a test several times, each in a bubble of its own, which also
// fails if a goroutine is left behind.
func repeated(t *testing.T, test func(*testing.T)) {
	t.Parallel()
	for range repeats {
		synctest.Test(t, test)
	}
}

// brief renders events without times, for comparing whole streams.
func brief(events []event.Event) []string {
	out := make([]string, 0, len(events))
	for _, e := range events {
		words := []string{string(e.Type)}
		for _, w := range []string{e.Project, e.Hook, string(e.Severity), e.Message, string(e.Result), e.Reason, e.Error} {
			if w != "" {
				words = append(words, w)
			}
		}
		if len(e.Waiting) > 0 {
			words = append(words, "waiting for "+strings.Join(e.Waiting, " "))
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}
