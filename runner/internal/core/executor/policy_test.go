package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/interrupt"
)

// after makes estimates from seconds by name.
func after(seconds map[string]int) plan.Estimates {
	e := plan.Estimates{Known: map[string]time.Duration{}}
	for name, n := range seconds {
		e.Known[name] = time.Duration(n) * time.Second
	}
	return e
}

func TestLongestRemainingPathStartsFirst(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b", "c", "d: c", "e: b"), func(o *executor.Options) {
			o.Estimates = after(map[string]int{"a": 3, "b": 1, "c": 1, "d": 4, "e": 1})
		})
		h.expectRunning("a", "c") // five seconds and three; b has two
		h.succeed("c")
		h.expectRunning("a", "d")
		h.succeed("a")
		h.expectRunning("b", "d")
		h.succeed("b")
		h.succeed("d")
		h.succeed("e")
		if _, err := h.wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestOneAtATimeIgnoresEstimates(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b", "c"), func(o *executor.Options) {
			o.Parallel, o.Estimates = 1, after(map[string]int{"c": 9, "b": 5})
		})
		for _, name := range []string{"a", "b", "c"} {
			h.expectRunning(name)
			h.succeed(name)
		}
	})
}

// sleeper is an operator that takes exactly as long as was estimated.
type sleeper struct{ plan.Estimates }

func (s sleeper) Operate(_ context.Context, step plan.Step, _ func(event.Event)) (executor.Outcome, error) {
	time.Sleep(s.Of(step.Project.Name)) // the bubble's clock, not ours
	return executor.Outcome{}, nil
}

// TestScheduleProperty runs random plans whose estimates come true: whatever
// starts is what has most left of all that could start, without a limit the run
// takes as long as the critical path, and with one it keeps within the bound
// that holds for every schedule that never idles (Graham's).
func TestScheduleProperty(t *testing.T) {
	t.Parallel()
	for seed := range uint64(repeats) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			p := randomPlan(rng, 1+rng.IntN(60))
			e := plan.Estimates{Known: map[string]time.Duration{}, Default: time.Second}
			var sum time.Duration
			for _, name := range p.Names() {
				if rng.IntN(4) > 0 {
					e.Known[name] = time.Duration(rng.IntN(600)) * time.Second
				}
				sum += e.Of(name)
			}
			longest := p.CriticalPath(e).Total
			for _, limit := range []int{2, 4, len(p.Steps) + 1} {
				w := &watch{t: t, plan: p, remaining: p.Remaining(e), state: map[string]string{}}
				r, err := executor.Run(t.Context(), executor.Options{
					Plan: p, Operation: operation.Up, Parallel: limit, Operator: sleeper{e}, Estimates: e, Emit: w.see,
				})
				bound := sum/time.Duration(limit) + longest
				if err != nil || r.Duration < longest || r.Duration > bound {
					t.Errorf("limit %d: %v, critical path %v, bound %v, %v", limit, r.Duration, longest, bound, err)
				}
				if limit > len(p.Steps) && r.Duration != longest {
					t.Errorf("no limit: %v, critical path %v", r.Duration, longest)
				}
			}
		})
	}
}

// watch checks in the events that the right step starts.
type watch struct {
	t         *testing.T
	plan      plan.Plan
	remaining []time.Duration
	state     map[string]string
}

func (w *watch) see(e event.Event) {
	switch e.Type {
	case event.StepFinished:
		w.state[e.Project] = "done"
	case event.StepStarted:
		if best := w.best(); best != e.Project {
			w.t.Errorf("%s starts, %s has more left", e.Project, best)
		}
		w.state[e.Project] = "started"
	}
}

// best returns the ready step with the longest remaining path.
func (w *watch) best() string {
	best := -1
	for i, step := range w.plan.Steps {
		ready := w.state[step.Project.Name] == ""
		for _, need := range step.All() {
			ready = ready && w.state[need] == "done"
		}
		if ready && (best < 0 || w.remaining[i] > w.remaining[best]) {
			best = i
		}
	}
	return w.plan.Steps[best].Project.Name
}

func TestContinueRunsWhatDependsOnNoFailure(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b", "c: a", "d: b", "e: c d", "f"), func(o *executor.Options) { o.OnError = executor.Continue })
		h.expectRunning("a", "b")
		h.fail("a")
		h.expectRunning("b", "f")
		h.succeed("b")
		h.expectRunning("d", "f")
		h.succeed("f")
		h.fail("d")
		r, err := h.wait()
		expectLines(t, r, "a failed", "b succeeded", "c skipped: a failed <- a", "d failed", "e skipped: a and d failed <- a d", "f succeeded")
		if want := "up a: a broke\nup d: d broke"; err == nil || err.Error() != want || r.Outcome != event.Failed {
			t.Errorf("got %s, %v", r.Outcome, err)
		}
		for _, e := range h.events {
			if e.Type == event.RunStopping {
				t.Errorf("said that it stops: %s", e.Reason)
			}
		}
	})
}

func TestContinueStillObeysAnInterruption(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b", "c", "d: a"), func(o *executor.Options) { o.OnError = executor.Continue })
		h.fail("a")
		h.expectRunning("b", "c")
		close(h.stop)
		h.succeed("b")
		h.succeed("c")
		r, err := h.wait()
		expectLines(t, r, "a failed", "b succeeded", "c succeeded", "d skipped: a failed <- a")
		if errors.Is(err, interrupt.ErrInterrupted) { // it came too late to keep anything from running
			t.Errorf("got %v", err)
		}
	})
}

// TestContinueProperty holds that exactly what depends on no failure runs.
func TestContinueProperty(t *testing.T) {
	t.Parallel()
	for seed := range uint64(repeats) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			p := randomPlan(rng, 1+rng.IntN(80))
			ref := &referee{t: t, limit: 1 + rng.IntN(5), fails: map[string]bool{}, finished: map[string]bool{}}
			for _, name := range p.Names() {
				ref.fails[name] = rng.IntN(8) == 0
			}
			result, _ := executor.Run(t.Context(), executor.Options{
				Plan: p, Operation: operation.Up, Parallel: ref.limit, Operator: ref, OnError: executor.Continue,
			})
			ref.expectClosure(p, result)
			for _, s := range result.Steps {
				if s.Result == event.Skipped && len(s.Causes) == 0 {
					t.Errorf("%s: skipped without a cause: %s", s.Project, s.Reason)
				}
			}
		})
	}
}

func TestExcludedProjectsAreAnnounced(t *testing.T) {
	t.Parallel()
	p := planOf("a", "b: a", "c: b").Without(map[string]string{"b": "--skip b"})
	ref := &referee{t: t, limit: 1, finished: map[string]bool{}}
	var events []event.Event
	_, err := executor.Run(t.Context(), executor.Options{
		Plan: p, Operation: operation.Up, Operator: ref, Emit: func(e event.Event) { events = append(events, e) },
	})
	if err != nil || strings.Join(ref.order, " ") != "a c" {
		t.Errorf("ran %v, %v", ref.order, err)
	}
	if diff := cmp.Diff([]event.Exclusion{{Name: "b", Title: "B", Reason: "--skip b"}}, events[0].Excluded); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprint(executor.Policies()); got != "[stop continue]" {
		t.Error(got)
	}
}
