package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/interrupt"
)

// worker runs one step in its own goroutine.
type worker struct {
	Options
	step  plan.Step
	limit time.Duration // zero means none
}

// emit sends an event about the step.
func (w worker) emit(e event.Event) {
	e.Project, e.Title = w.step.Project.Name, w.step.Project.Title
	w.Emit(e)
}

// aborted returns the result of a step whose operator ended the goroutine.
func (w worker) aborted() StepResult {
	return StepResult{
		Project: w.step.Project.Name, Result: event.Failed,
		Err: errors.New("internal error: the work on the project ended without a result"),
	}
}

// work runs the operation with the hooks around it, within the time limit.
func (w worker) work(ctx context.Context) StepResult {
	began := w.Now()
	limited, cancel := w.limited(ctx)
	defer cancel()
	a := attempts{err: w.runHooks(limited, model.Before, StepResult{})}
	if a.err == nil {
		a = w.try(limited)
	}
	if a.err == nil && w.followed(a.out) {
		a.err = w.runHooks(limited, model.OnSuccess, w.judge(limited, a))
	}
	result := w.judge(limited, a)
	if over := w.Now().Sub(began) - w.limit; result.Err != nil && w.limit > 0 && over >= time.Second && w.isLate(limited) {
		// A provider finishes what it has begun: a deadline does not tear a resource apart.
		result.Reason += fmt.Sprintf(", and ended %s later: what had begun was finished first", event.FormatDuration(over))
	}
	if a.err != nil || w.followed(a.out) {
		w.runLastHooks(ctx, &result)
	}
	result.Duration = w.Now().Sub(began)
	return result
}

// judge turns the outcome of the work into a result. The context decides whether an error is
// a failure or the effect of an interruption or time limit, not the error: an interrupted
// engine returns all kinds of errors.
func (w worker) judge(limited context.Context, a attempts) StepResult {
	result := StepResult{
		Project: w.step.Project.Name, Result: event.Succeeded, Changes: a.out.Changes, Unknown: a.out.Unknown,
		Link:     a.out.Link,
		Attempts: a.count, Err: a.err,
	}
	var late *TimeoutError
	switch {
	case a.err != nil && errors.As(context.Cause(limited), &late):
		result.Result, result.Reason, result.Err = event.Failed, late.Error(), late.with(a.err)
	case a.err != nil && (limited.Err() != nil || a.stopped || errors.Is(a.err, interrupt.ErrInterrupted)):
		result.Result, result.Reason = event.Cancelled, event.ReasonInterrupted
	case a.err != nil:
		result.Result = event.Failed
	case a.out.Skipped != "":
		result.Result, result.Reason, result.Unchanged = event.Skipped, a.out.Skipped, a.out.Unchanged
	}
	return result
}

// isLate reports whether the time limit has ended the work.
func (w worker) isLate(limited context.Context) bool {
	_, ok := errors.AsType[*TimeoutError](context.Cause(limited))
	return ok
}

// operate calls the operator and recovers from its panics.
func (w worker) operate(ctx context.Context) (out Outcome, err error) {
	defer w.recover(&err)
	return w.Operator.Operate(ctx, w.step, w.emit)
}

// followed reports whether hooks follow a successful operation.
func (w worker) followed(out Outcome) bool {
	return w.Operation.Destroys() || out.Skipped == ""
}

// runHooks runs the hooks of a moment in order, up to the first failure.
func (w worker) runHooks(ctx context.Context, on model.Moment, result StepResult) error {
	for _, h := range w.step.Project.Hooks {
		if h.On != on || !h.For(w.Operation) {
			continue
		}
		err := context.Cause(ctx)
		if err == nil {
			err = w.runHook(ctx, HookCall{Hook: h, Step: w.step, Result: result})
		}
		if err != nil {
			return fmt.Errorf("hook %s: %w", h.Name, err)
		}
	}
	return nil
}

// lastHooksLimit is the time limit of the last hooks of an interrupted step.
const lastHooksLimit = time.Minute

// forLastHooks returns a context with its own time limit for hooks after interrupted work.
func forLastHooks(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), lastHooksLimit)
}

// runLastHooks runs the hooks after a failure, and the hooks that always run, also after an
// interruption, because they clean up. If one fails, the step fails.
func (w worker) runLastHooks(ctx context.Context, result *StepResult) {
	ctx, cancel := forLastHooks(ctx)
	defer cancel()
	var errs []error
	if result.Err != nil {
		errs = append(errs, w.runHooks(ctx, model.OnFailure, *result))
	}
	errs = append(errs, w.runHooks(ctx, model.Always, *result))
	if err := errors.Join(errs...); err != nil && result.Err == nil {
		result.Result, result.Err = event.Failed, err
	}
}

// runHook runs one hook between its two events.
func (w worker) runHook(ctx context.Context, call HookCall) error {
	began := w.Now()
	w.emit(event.Event{Type: event.HookStarted, Hook: call.Hook.Name})
	err := w.callHook(ctx, call)
	e := event.Event{Type: event.HookFinished, Hook: call.Hook.Name, Result: event.Succeeded,
		DurationMS: w.Now().Sub(began).Milliseconds()}
	if err != nil {
		e.Result, e.Error = event.Failed, err.Error()
	}
	w.emit(e)
	return err
}

// callHook calls the hook and recovers from its panics.
func (w worker) callHook(ctx context.Context, call HookCall) (err error) {
	defer w.recover(&err)
	return w.Hook(ctx, call, w.emit)
}

// recover turns a panic into an error and emits its stack: one broken project must not crash
// the run.
func (w worker) recover(err *error) {
	p := recover()
	if p == nil {
		return
	}
	*err = fmt.Errorf("internal error: panic: %v", p)
	w.emit(event.Event{Type: event.StepLog, Severity: event.Error,
		Message: fmt.Sprintf("panic: %v\n\n%s", p, debug.Stack())})
}

// TimeoutError is the error of work on a project that exceeded its time limit. It is also the
// cause of the cancelled context of the operator.
type TimeoutError struct{ Limit time.Duration }

// Error names the limit.
func (e *TimeoutError) Error() string { return "timed out after " + event.FormatDuration(e.Limit) }

// with joins the error of the cancelled operator, unless it is the same error.
func (e *TimeoutError) with(err error) error {
	if errors.Is(err, e) {
		return err
	}
	return fmt.Errorf("%w: %w", e, err)
}

// limited returns a context with the time limit.
func (w worker) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, w.limit, &TimeoutError{Limit: w.limit})
}

// runHooks runs the hooks of the run at a moment, up to the first failure.
func (r *run) runHooks(ctx context.Context, on model.Moment, result StepResult) bool {
	w := worker{Options: r.Options}
	w.step.Project = model.Project{Name: event.RunProject, Title: "Run", Hooks: r.RunHooks}
	err := w.runHooks(ctx, on, result)
	if err == nil {
		return true
	}
	w.emit(event.Event{Type: event.RunWarning, Message: err.Error()})
	if r.hookErr == nil {
		r.hookErr = err
	}
	return false
}

// runLastHooks runs the hooks after a run. The run fails if a hook fails; the error is that
// of the first failed hook.
func (r *run) runLastHooks(ctx context.Context, result *Result, changes event.Changes) error {
	if r.hookErr != nil {
		result.Outcome = event.Failed
	}
	ctx, cancel := forLastHooks(ctx)
	defer cancel()
	hookResult := StepResult{Result: result.Outcome, Changes: changes, Err: errors.Join(result.err(ctx), r.hookErr)}
	on := model.OnSuccess
	if result.Outcome != event.Succeeded {
		on = model.OnFailure
	}
	for _, moment := range []model.Moment{on, model.Always} {
		if !r.runHooks(ctx, moment, hookResult) && result.Outcome == event.Succeeded {
			result.Outcome = event.Failed
		}
	}
	if r.hookErr == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", r.Operation, r.hookErr)
}
