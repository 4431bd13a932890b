package executor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
)

// TestHookMoments: which hooks run around a step, in which order, for each way
// in which it can end.
func TestHookMoments(t *testing.T) {
	t.Parallel()
	ups := []operation.Operation{operation.Up, operation.Preview}
	hooks := []model.Hook{
		{Name: "always", On: model.Always, Operations: ups}, {Name: "failure", On: model.OnFailure, Operations: ups},
		{Name: "success", On: model.OnSuccess, Operations: ups}, {Name: "before", On: model.Before, Operations: ups},
		{Name: "destroys", On: model.Before, Operations: []operation.Operation{operation.Destroy}},
	}
	for name, tt := range map[string]struct {
		operation operation.Operation
		end       ending
		failing   string // hook
		want      string
		result    string
	}{
		"success":            {operation: operation.Up, want: "before success always", result: "a succeeded"},
		"failure":            {operation: operation.Up, end: ending{err: errors.New("x")}, want: "before failure always", result: "a failed"},
		"preview":            {operation: operation.Preview, want: "before success always", result: "a succeeded"},
		"skipped":            {operation: operation.Up, end: ending{out: executor.Outcome{Skipped: "s"}}, want: "before", result: "a skipped: s"},
		"refresh":            {operation: operation.Refresh, result: "a succeeded"},
		"before fails":       {operation: operation.Up, failing: "before", want: "before failure always", result: "a failed"},
		"success fails":      {operation: operation.Up, failing: "success", want: "before success failure always", result: "a failed"},
		"always fails":       {operation: operation.Up, failing: "always", want: "before success always", result: "a failed"},
		"failure fails, too": {operation: operation.Up, end: ending{err: errors.New("x")}, failing: "failure", want: "before failure always", result: "a failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planOf("a")
			p.Steps[0].Project.Hooks = hooks
			var calls []string
			r, err := executor.Run(t.Context(), executor.Options{
				Plan: p, Operation: tt.operation,
				Operator: operatorFunc(func(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
					return tt.end.out, tt.end.err
				}),
				Hook: func(_ context.Context, call executor.HookCall, _ func(event.Event)) error {
					calls = append(calls, call.Hook.Name)
					if call.Hook.On == model.OnFailure && call.Result.Result != event.Failed {
						t.Errorf("a hook of a failure got %q", call.Result.Result)
					}
					if call.Hook.Name == tt.failing {
						return errors.New("broken")
					}
					return nil
				},
			})
			expectLines(t, r, tt.result)
			if got := strings.Join(calls, " "); got != tt.want {
				t.Errorf("hooks %q, want %q", got, tt.want)
			}
			if tt.end.err != nil && (err == nil || err.Error() != string(tt.operation)+" a: x") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestHooksAfterACancellation: what cleans up also runs then.
func TestHooksAfterACancellation(t *testing.T) {
	repeated(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := planOf("a")
		p.Steps[0].Project.Hooks = []model.Hook{{Name: "clean", On: model.Always, Operations: []operation.Operation{operation.Up}}}
		ran := false
		h := begin(ctx, t, p, func(o *executor.Options) {
			o.Operation = operation.Up
			o.Operator = operatorFunc(func(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
				cancel()
				return executor.Outcome{}, context.Canceled
			})
			o.Hook = func(ctx context.Context, call executor.HookCall, _ func(event.Event)) error {
				_, limited := ctx.Deadline()
				ran = ctx.Err() == nil && limited && call.Result.Result == event.Cancelled
				return nil
			}
		})
		r, _ := h.wait()
		expectLines(t, r, "a cancelled: interrupted")
		if !ran {
			t.Error("the hook did not run as it should")
		}
	})
}

// TestRunHooks: those of the run come before and after all steps.
func TestRunHooks(t *testing.T) {
	t.Parallel()
	up := []operation.Operation{operation.Up}
	for name, tt := range map[string]struct {
		end          ending
		failing      string
		want, result string
		outcome      event.Result
		err          string
	}{
		"success":       {want: "before a success always", result: "a succeeded", outcome: event.Succeeded},
		"failure":       {end: ending{err: errors.New("x")}, want: "before a failure always", result: "a failed", outcome: event.Failed, err: "up a: x"},
		"before fails":  {failing: "before", want: "before failure always", result: "a skipped: a hook of the run failed", outcome: event.Failed, err: "up: hook before: broken"},
		"success fails": {failing: "success", want: "before a success always", result: "a succeeded", outcome: event.Failed, err: "up: hook success: broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []string
			r, err := executor.Run(t.Context(), executor.Options{
				Plan: planOf("a"), Operation: operation.Up,
				RunHooks: []model.Hook{
					{Name: "always", On: model.Always, Operations: up}, {Name: "failure", On: model.OnFailure, Operations: up},
					{Name: "success", On: model.OnSuccess, Operations: up}, {Name: "before", On: model.Before, Operations: up},
				},
				Operator: operatorFunc(func(_ context.Context, step plan.Step, _ func(event.Event)) (executor.Outcome, error) {
					calls = append(calls, step.Project.Name)
					return tt.end.out, tt.end.err
				}),
				Hook: func(_ context.Context, call executor.HookCall, _ func(event.Event)) error {
					calls = append(calls, call.Hook.Name)
					if call.Hook.On == model.OnFailure && (call.Result.Result != event.Failed || call.Result.Err == nil) {
						t.Errorf("a hook of a failure got %+v", call.Result)
					}
					if call.Hook.Name == tt.failing {
						return errors.New("broken")
					}
					return nil
				},
			})
			expectLines(t, r, tt.result)
			if got := strings.Join(calls, " "); got != tt.want || r.Outcome != tt.outcome {
				t.Errorf("calls %q, want %q; outcome %s", got, tt.want, r.Outcome)
			}
			if got := fmt.Sprint(err); err != nil && got != tt.err || err == nil && tt.err != "" {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}
