package executor

import (
	"context"
	"errors"
	"fmt"

	"mara/projects/model"
	"mara/runner/internal/run/event"
)

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
