package executor_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/needs"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/interrupt"
)

func TestStartsWhatIsReadyWithinTheLimit(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b", "c", "d: a", "e: c d"), nil)
		h.expectRunning("a", "b")
		h.succeed("a")
		h.expectRunning("b", "c") // c is listed before d
		h.succeed("c")
		h.expectRunning("b", "d")
		h.succeed("d")
		h.expectRunning("b", "e") // e does not wait for b
		h.succeed("b")
		h.succeed("e")
		r, err := h.wait()
		if err != nil || r.Outcome != event.Succeeded {
			t.Errorf("got %s, %v", r.Outcome, err)
		}
		if h.gate.peak > 2 {
			t.Errorf("%d steps ran at once, the limit is 2", h.gate.peak)
		}
	})
}

func TestOneAtATimeIsTheListedOrder(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b: a", "c", "d: a", "e: b", "f"), func(o *executor.Options) { o.Parallel = 0 })
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			h.expectRunning(name)
			h.succeed(name)
		}
		if _, err := h.wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestFailureSkipsDependentsWithTheRootCause(t *testing.T) {
	repeated(t, func(t *testing.T) {
		p := planOf("a", "b", "c: a", "d: c", "e: b", "f: a b", "g")
		h := begin(t.Context(), t, p, nil)
		h.expectRunning("a", "b")
		h.fail("a")
		h.expectRunning("b") // nothing new starts, what runs is finished
		h.fail("b")
		r, err := h.wait()
		expectLines(t, r,
			"a failed", "b failed",
			"c skipped: a failed <- a", "d skipped: a failed <- a",
			"e skipped: b failed <- b", "f skipped: a and b failed <- a b",
			"g skipped: stopped after a and b failed",
		)
		if r.Outcome != event.Failed {
			t.Errorf("outcome %s", r.Outcome)
		}
		if want := "up a: a broke\nup b: b broke"; err == nil || err.Error() != want {
			t.Errorf("got error %q, want %q", err, want)
		}
		if errors.Is(err, interrupt.ErrInterrupted) {
			t.Error("a failure is not an interruption")
		}
	})
}

func TestSkippedStepHoldsUpNothing(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b: a"), func(o *executor.Options) { o.Operation = operation.Refresh })
		h.skip("a", "never deployed")
		h.expectRunning("b")
		h.succeed("b")
		r, err := h.wait()
		expectLines(t, r, "a skipped: never deployed", "b succeeded")
		if err != nil || r.Outcome != event.Succeeded {
			t.Errorf("got %s, %v", r.Outcome, err)
		}
	})
}

func TestStopFinishesWhatRuns(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b", "c: a", "d"), nil)
		h.expectRunning("a", "b")
		close(h.stop)
		h.expectRunning("a", "b")
		h.succeed("a")
		h.expectRunning("b")
		h.fail("b")
		r, err := h.wait()
		expectLines(t, r, "a succeeded", "b failed", "c cancelled: interrupted", "d cancelled: interrupted")
		if r.Outcome != event.Interrupted || !errors.Is(err, interrupt.ErrInterrupted) {
			t.Errorf("got %s, %v", r.Outcome, err)
		}
		if !strings.Contains(err.Error(), "up b: b broke") {
			t.Errorf("the failure is missing in %q", err)
		}
		want := []string{
			"run.started", "step.started a", "step.started b",
			"run.stopping interrupted waiting for a b",
			"step.finished a succeeded", "step.finished b failed b broke",
			"step.finished c cancelled interrupted", "step.finished d cancelled interrupted",
			"run.finished interrupted",
		}
		if diff := cmp.Diff(want, brief(h.events)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestStopBeforeTheStartAndAtTheEnd(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b"), func(o *executor.Options) {
			stopped := make(chan struct{})
			close(stopped)
			o.Stop = stopped
		})
		r, err := h.wait()
		expectLines(t, r, "a cancelled: interrupted", "b cancelled: interrupted")
		if !errors.Is(err, interrupt.ErrInterrupted) {
			t.Errorf("got %v", err)
		}

		h = begin(t.Context(), t, planOf("a", "b"), nil)
		h.expectRunning("a", "b")
		close(h.stop)
		h.succeed("a")
		h.succeed("b")
		if r, err := h.wait(); err != nil || r.Outcome != event.Succeeded {
			t.Errorf("everything was done, yet got %s, %v", r.Outcome, err)
		}
	})
}

func TestCancelStopsWhatRuns(t *testing.T) {
	repeated(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		h := begin(ctx, t, planOf("a", "b", "c: a"), nil)
		h.succeed("b")
		h.expectRunning("a")
		cause := errors.New("terminated")
		cancel(cause)
		r, err := h.wait()
		expectLines(t, r, "a cancelled: interrupted", "b succeeded", "c cancelled: interrupted")
		if !errors.Is(err, interrupt.ErrInterrupted) || !errors.Is(err, cause) {
			t.Errorf("got %v, want ErrInterrupted and its cause", err)
		}
		if got := r.Steps[0]; got.Err == nil || got.Changes.Create != 1 {
			t.Errorf("what the operator did and said is lost: %+v", got)
		}
	})
}

func TestStopAndThenCancel(t *testing.T) {
	repeated(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := begin(ctx, t, planOf("a"), nil)
		h.expectRunning("a")
		close(h.stop)
		h.expectRunning("a")
		cancel()
		r, _ := h.wait()
		expectLines(t, r, "a cancelled: interrupted")
		want := []string{
			"run.started", "step.started a", "run.stopping interrupted waiting for a", "run.stopping cancelled waiting for a",
			"step.finished a cancelled interrupted exit status 1", "run.finished interrupted",
		}
		if diff := cmp.Diff(want, brief(h.events)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// hookLog is a hook that writes down its calls and fails on demand.
type hookLog struct {
	calls []string
	err   error
}

func (l *hookLog) run(_ context.Context, call executor.HookCall, emit func(event.Event)) error {
	l.calls = append(l.calls, call.Step.Project.Name+" "+call.Hook.Name)
	emit(event.Event{Type: event.StepLog, Severity: event.Info, Message: "hooked"})
	return l.err
}

func TestHooks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		operation operation.Operation
		end       ending
		err       error
		calls     []string
		want      string
	}{
		"up":                  {operation: operation.Up, calls: []string{"a kubeconfig"}, want: "a succeeded"},
		"destroy":             {operation: operation.Destroy, calls: []string{"a kubeconfig"}, want: "a succeeded"},
		"nothing to destroy":  {operation: operation.Destroy, end: ending{out: executor.Outcome{Skipped: "never deployed"}}, calls: []string{"a kubeconfig"}, want: "a skipped: never deployed"},
		"nothing to do in up": {operation: operation.Up, end: ending{out: executor.Outcome{Skipped: "unchanged"}}, want: "a skipped: unchanged"},
		"preview":             {operation: operation.Preview, want: "a succeeded"},
		"refresh":             {operation: operation.Refresh, want: "a succeeded"},
		"after a failure":     {operation: operation.Up, end: ending{err: errors.New("no")}, want: "a failed"},
		"failing":             {operation: operation.Up, err: errors.New("read-only"), calls: []string{"a kubeconfig"}, want: "a failed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &hookLog{err: tt.err}
				h := begin(t.Context(), t, planOf("a!"), func(o *executor.Options) { o.Operation, o.Hook = tt.operation, log.run })
				h.finish("a", tt.end)
				r, _ := h.wait()
				expectLines(t, r, tt.want)
				if diff := cmp.Diff(tt.calls, log.calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestFailingHookFailsItsStep(t *testing.T) {
	repeated(t, func(t *testing.T) {
		log := &hookLog{err: errors.New("read-only")}
		h := begin(t.Context(), t, planOf("a!", "b: a"), func(o *executor.Options) { o.Hook = log.run })
		h.finish("a", ending{out: executor.Outcome{Changes: event.Changes{Create: 3}}})
		r, err := h.wait()
		expectLines(t, r, "a failed", "b skipped: a failed <- a")
		if want := "up a: hook kubeconfig: read-only"; err == nil || err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
		if r.Steps[0].Changes.Create != 3 {
			t.Error("what the operation changed is lost")
		}
		want := []string{
			"run.started", "step.started a", "hook.started a kubeconfig", "step.log a info hooked",
			"hook.finished a kubeconfig failed read-only", "step.finished a failed hook kubeconfig: read-only",
			"step.finished b skipped a failed", "run.finished failed",
		}
		if diff := cmp.Diff(want, brief(h.events)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// operatorFunc makes a function an operator.
type operatorFunc func(ctx context.Context, step plan.Step, emit func(event.Event)) (executor.Outcome, error)

func (f operatorFunc) Operate(ctx context.Context, step plan.Step, emit func(event.Event)) (executor.Outcome, error) {
	return f(ctx, step, emit)
}

func TestCancelledBetweenOperationAndHook(t *testing.T) {
	repeated(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		log := &hookLog{}
		h := begin(ctx, t, planOf("a!"), func(o *executor.Options) {
			o.Hook = log.run
			o.Operator = operatorFunc(func(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
				cancel()
				return executor.Outcome{}, nil
			})
		})
		r, err := h.wait()
		expectLines(t, r, "a cancelled: interrupted") // else the hook would never be repeated
		if len(log.calls) > 0 || !errors.Is(err, interrupt.ErrInterrupted) {
			t.Errorf("hooks %v, error %v", log.calls, err)
		}
	})
}

func TestPanicFailsTheStepOnly(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b"), func(o *executor.Options) {
			o.Operator = operatorFunc(func(_ context.Context, step plan.Step, _ func(event.Event)) (executor.Outcome, error) {
				if step.Project.Name == "a" {
					panic("nil map")
				}
				return executor.Outcome{}, nil
			})
		})
		r, err := h.wait()
		expectLines(t, r, "a failed", "b succeeded")
		if want := "up a: internal error: panic: nil map"; err == nil || err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
		for _, e := range h.events {
			if e.Type == event.StepLog && e.Project == "a" && strings.Contains(e.Message, "executor_test.go") {
				return
			}
		}
		t.Error("no diagnostic with the stack")
	})
}

func TestPanickingHookFailsTheStep(t *testing.T) {
	t.Parallel()
	_, err := executor.Run(t.Context(), executor.Options{
		Plan: planOf("a!"), Operation: operation.Up,
		Operator: operatorFunc(func(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
			return executor.Outcome{}, nil
		}), // and no hook: calling it panics
	})
	if err == nil || !strings.Contains(err.Error(), "up a: hook kubeconfig: internal error: panic") {
		t.Errorf("got %v", err)
	}
}

func TestOperatorThatEndsItsGoroutine(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a"), func(o *executor.Options) {
			o.Operator = operatorFunc(func(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
				runtime.Goexit()
				return executor.Outcome{}, nil
			})
		})
		r, err := h.wait()
		expectLines(t, r, "a failed")
		if err == nil || !strings.Contains(err.Error(), "ended without a result") {
			t.Errorf("got %v", err)
		}
	})
}

func TestEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b: a"), func(o *executor.Options) { o.Simulated = true })
		h.expectRunning("a")
		time.Sleep(1500 * time.Millisecond) // the bubble's clock, not ours
		h.finish("a", ending{out: executor.Outcome{Changes: event.Changes{Create: 2}}})
		h.finish("b", ending{out: executor.Outcome{Changes: event.Changes{Same: 1}}})
		if _, err := h.wait(); err != nil {
			t.Fatal(err)
		}
		want := []event.Event{
			{Type: event.RunStarted, Format: event.Format, Operation: operation.Up, Provider: "kind", Stack: "dev", Simulated: true, Parallel: 2,
				Projects: []event.Project{{Name: "a", Title: "A", Needs: needs.Needs{Reads: []string{}}}, {Name: "b", Title: "B", Needs: needs.Needs{Reads: []string{"a"}}}}},
			{Type: event.StepStarted, Project: "a", Title: "A"},
			{Type: event.StepFinished, Project: "a", Title: "A", Result: event.Succeeded, Changes: &event.Changes{Create: 2}, DurationMS: 1500},
			{Type: event.StepStarted, Project: "b", Title: "B"},
			{Type: event.StepFinished, Project: "b", Title: "B", Result: event.Succeeded, Changes: &event.Changes{Same: 1}},
			{Type: event.RunFinished, Result: event.Succeeded, DurationMS: 1500,
				Results: &event.Results{Succeeded: 2}, Changes: &event.Changes{Create: 2, Same: 1}},
		}
		if diff := cmp.Diff(want, h.events); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestEmptyPlan(t *testing.T) {
	t.Parallel()
	r, err := executor.Run(t.Context(), executor.Options{Operation: operation.Up})
	if err != nil || r.Outcome != event.Succeeded || len(r.Steps) != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestPlansThatCannotWork(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		plan plan.Plan
		want string
	}{
		"unknown need": {plan: planOf("a: nothing"), want: `plan: project "a" needs "nothing", which is not listed before it`},
		"wrong order":  {plan: planOf("a: b", "b"), want: `plan: project "a" needs "b", which is not listed before it`},
		"twice":        {plan: planOf("a", "a"), want: `plan: project "a" is listed twice`},
		"itself":       {plan: planOf("a: a"), want: `plan: project "a" needs "a", which is not listed before it`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := executor.Run(t.Context(), executor.Options{Plan: tt.plan, Emit: func(e event.Event) {
				t.Errorf("emitted %s for a plan that is refused", e.Type)
			}})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestConclude: its error makes a run a failure, and it is only asked when all
// steps have gone well.
func TestConclude(t *testing.T) {
	t.Parallel()
	forbidden := errors.New("forbidden")
	for _, test := range []struct {
		name      string
		fails     bool
		concluded error
		want      event.Result
		asked     bool
	}{
		{"well", false, nil, event.Succeeded, true},
		{"forbidden", false, forbidden, event.Failed, true},
		{"a step fails", true, forbidden, event.Failed, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var last event.Event
			asked := false
			_, err := executor.Run(t.Context(), executor.Options{
				Plan: planOf("a"), Operation: operation.Preview, Operator: once(func() error {
					if test.fails {
						return errors.New("oh no")
					}
					return nil
				}),
				Conclude: func() error { asked = true; return test.concluded },
				Emit:     func(e event.Event) { last = e },
			})
			if last.Type != event.RunFinished || last.Result != test.want || asked != test.asked {
				t.Errorf("ended with %s %s, asked: %v", last.Type, last.Result, asked)
			}
			if (err != nil) != (test.want == event.Failed) || test.asked && !errors.Is(err, test.concluded) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// once is an operator that does the same for every step.
type once func() error

func (o once) Operate(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
	return executor.Outcome{}, o()
}
