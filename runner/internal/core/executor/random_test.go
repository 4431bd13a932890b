package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/interrupt"
)

// randomPlan returns a plan of n steps, each with up to three needs among the
// steps before it.
func randomPlan(r *rand.Rand, n int) plan.Plan {
	rows := make([]string, n)
	for i := range rows {
		needs := map[string]bool{}
		for range min(i, r.IntN(4)) {
			needs[fmt.Sprintf("s%d", r.IntN(i))] = true
		}
		rows[i] = fmt.Sprintf("s%d:", i)
		for name := range needs {
			rows[i] += " " + name
		}
	}
	return planOf(rows...)
}

// referee is an operator that checks the rules while the run goes on.
type referee struct {
	t     *testing.T
	limit int
	fails map[string]bool

	mu       sync.Mutex
	running  int             // guarded by mu
	finished map[string]bool // guarded by mu; only what went well
	order    []string        // guarded by mu
}

func (r *referee) Operate(_ context.Context, step plan.Step, _ func(event.Event)) (executor.Outcome, error) {
	r.enter(step)
	defer r.leave(step)
	if r.fails[step.Project.Name] {
		return executor.Outcome{}, errors.New("by chance")
	}
	return executor.Outcome{}, nil
}

func (r *referee) enter(step plan.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order = append(r.order, step.Project.Name)
	if r.running++; r.running > r.limit {
		r.t.Errorf("%d steps at once, the limit is %d", r.running, r.limit)
	}
	for _, need := range step.All() {
		if !r.finished[need] {
			r.t.Errorf("%s started before %s was done", step.Project.Name, need)
		}
	}
}

func (r *referee) leave(step plan.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	r.finished[step.Project.Name] = !r.fails[step.Project.Name]
}

// expectClosure checks the results of a run against the definition: a step is
// skipped for a cause if and only if a path leads from it to a failed step.
func (r *referee) expectClosure(p plan.Plan, result executor.Result) {
	started := map[string]bool{}
	for _, name := range r.order {
		started[name] = true
	}
	causes := map[string]map[string]bool{}
	for i, step := range p.Steps {
		name, got := step.Project.Name, result.Steps[i]
		causes[name] = map[string]bool{}
		for _, need := range step.All() {
			for root := range causes[need] {
				causes[name][root] = true
			}
		}
		if len(causes[name]) > 0 && started[name] {
			r.t.Errorf("%s started although %v failed", name, causes[name])
		}
		if !started[name] {
			r.expectSkipped(got, causes[name])
		}
		if started[name] && r.fails[name] {
			causes[name] = map[string]bool{name: true}
		}
	}
}

func (r *referee) expectSkipped(got executor.StepResult, causes map[string]bool) {
	if got.Result != event.Skipped || len(got.Causes) != len(causes) {
		r.t.Errorf("%s: got %s because of %v, want skipped because of %v", got.Project, got.Result, got.Causes, causes)
	}
	for _, c := range got.Causes {
		if !causes[c] {
			r.t.Errorf("%s: %s is no cause", got.Project, c)
		}
	}
	if len(causes) == 0 && !strings.HasPrefix(got.Reason, "stopped after ") {
		r.t.Errorf("%s depends on no failure, yet its reason is %q", got.Project, got.Reason)
	}
}

func TestRandomPlans(t *testing.T) {
	t.Parallel()
	for seed := range uint64(repeats) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			size := 1000
			if seed%5 > 0 {
				size = 1 + rng.IntN(60)
			}
			p := randomPlan(rng, size)
			ref := &referee{t: t, limit: 1 + rng.IntN(8), fails: map[string]bool{}, finished: map[string]bool{}}
			for range rng.IntN(3) {
				ref.fails[fmt.Sprintf("s%d", rng.IntN(size))] = true
			}
			var summary event.Summary
			emitter := event.NewEmitter(event.EmitterOptions{Sinks: []event.Sink{sink(summary.Apply)}})
			result, err := executor.Run(t.Context(), executor.Options{
				Plan: p, Operation: operation.Up, Parallel: ref.limit, Operator: ref, Emit: emitter.Emit,
			})
			emitter.Close()
			expectSame(t, result, &summary)
			if (err != nil) != (result.Outcome == event.Failed) {
				t.Errorf("outcome %s with error %v", result.Outcome, err)
			}
			if len(ref.fails) == 0 && len(ref.order) != size {
				t.Errorf("%d of %d steps ran", len(ref.order), size)
			}
			ref.expectClosure(p, result)
			if ref.limit == 1 {
				expectListedOrder(t, p, ref.order)
			}
		})
	}
}

// sink makes a function an event.Sink.
type sink func(event.Event)

func (s sink) Emit(e event.Event) { s(e) }

// expectSame checks that the events alone tell the same as the result.
func expectSame(t *testing.T, result executor.Result, s *event.Summary) {
	t.Helper()
	if s.Outcome() != result.Outcome || len(s.Steps) != len(result.Steps) {
		t.Fatalf("events tell %s of %d steps, the result %s of %d", s.Outcome(), len(s.Steps), result.Outcome, len(result.Steps))
	}
	for i, step := range result.Steps {
		if got := s.Steps[i]; got.Name != step.Project || got.Result != step.Result || got.Reason != step.Reason {
			t.Errorf("events tell %s %s %q, the result %s %s %q", got.Name, got.Result, got.Reason, step.Project, step.Result, step.Reason)
		}
	}
}

func expectListedOrder(t *testing.T, p plan.Plan, order []string) {
	t.Helper()
	for i, name := range order {
		if want := p.Steps[i].Project.Name; name != want {
			t.Fatalf("step %d is %s, want %s", i, name, want)
		}
	}
}

func TestRandomInterruptions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(repeats) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			p := randomPlan(rng, 200)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stop, at := make(chan struct{}), rng.IntN(200)
			ref := &referee{t: t, limit: 4, finished: map[string]bool{}}
			var once sync.Once
			op := operatorFunc(func(ctx context.Context, step plan.Step, emit func(event.Event)) (executor.Outcome, error) {
				if step.Index >= at {
					once.Do(func() { close(stop) })
				}
				return ref.Operate(ctx, step, emit)
			})
			result, err := executor.Run(ctx, executor.Options{Plan: p, Operation: operation.Up, Parallel: 4, Operator: op, Stop: stop})
			cancelled := slices.ContainsFunc(result.Steps, func(s executor.StepResult) bool { return s.Result == event.Cancelled })
			if cancelled != errors.Is(err, interrupt.ErrInterrupted) || cancelled != (result.Outcome == event.Interrupted) {
				t.Errorf("cancelled steps: %t, outcome %s, error %v", cancelled, result.Outcome, err)
			}
			for i, s := range result.Steps {
				if ran := ref.finished[p.Steps[i].Project.Name]; ran != (s.Result == event.Succeeded) {
					t.Errorf("%s ran: %t, result %s", s.Project, ran, s.Result)
				}
			}
		})
	}
}

func BenchmarkRun(b *testing.B) {
	idle := operatorFunc(func(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
		return executor.Outcome{}, nil
	})
	for _, n := range []int{10, 100, 1000, 5000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			p := randomPlan(rand.New(rand.NewPCG(1, 1)), n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := executor.Run(b.Context(), executor.Options{Plan: p, Operation: operation.Up, Parallel: 4, Operator: idle}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/step")
		})
	}
}
