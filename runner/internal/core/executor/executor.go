// Package executor walks a plan: it starts every step as soon as its needs are done, within
// a limit, and emits events. It knows neither Pulumi nor a terminal; an Operator does the
// work of a step.
//
// For every step, the algorithm counts the open needs. A step without open needs is ready.
// The ready step with the longest remaining path by the estimates starts first; without
// estimates, the first in plan order. A limit of one gives exactly the listed order. A step
// that succeeds, or is skipped because it has nothing to do, closes one need of each of its
// dependents. The goroutine of Run owns all state. Each running step has its own goroutine,
// which only sends back its result.
//
// After a failure or an interruption nothing new starts and running steps finish. Then every
// step that never started gets its result: skipped with the failed projects as causes if it
// depends on one, skipped because the run stopped if it does not, cancelled if the user
// interrupted. With the policy Continue only an interruption stops the run; steps that depend
// on no failure run.
//
// An operation with a transient failure may be retried. The work on a project may have a time
// limit, which cancels it as a user does, but makes it a failure.
package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/interrupt"
)

// Operator does the work of one step. It is called from several goroutines.
// Events go through emit, which adds the project; emit must not be used after
// Operate has returned. If ctx is cancelled, Operate stops its work and returns an error.
type Operator interface {
	Operate(ctx context.Context, step plan.Step, emit func(event.Event)) (Outcome, error)
}

// Foreseer is an operator that prepares steps before their turn. Foresee gets the steps that run, and those that will
// run if nothing fails, each time that these may have changed: those first whose turn comes first. It gets none at the
// end, and only those that run when the run stops. It must not block. The goroutine of Run calls it.
type Foreseer interface {
	Foresee(next []Waiting)
}

// Waiting is a step that runs or that has not started.
type Waiting struct {
	Step    plan.Step
	Running bool
	// For are the positions of the steps that it needs, directly or not, and that have not succeeded yet.
	For []int
}

// Outcome is the result of an operator. It is valid even with an error.
type Outcome struct {
	Changes event.Changes
	// Skipped is the reason why there was nothing to do, such as "never deployed". Dependents
	// of such a step still run.
	Skipped string
	// Unchanged is the run since which nothing has changed, if the step was skipped for that.
	Unchanged string
	// Unknown lists the projects whose outputs a preview did not know.
	Unknown []string
	// Link leads to the page of the update at Pulumi Cloud; "" where there is none.
	Link string
}

// Options are the inputs of Run.
type Options struct {
	// Plan is walked in its order; for destroy the caller passes the reversed plan.
	Plan      plan.Plan
	Operation operation.Operation
	// Stack and Simulated are fields of run.started.
	Stack     string
	Simulated bool
	// Parallel is how many steps may run at once, at least one.
	Parallel int
	// Estimates decide which ready step starts first, if more than one step may run at once.
	Estimates plan.Estimates
	// OnError is the policy after a failure; "" means Stop.
	OnError OnError
	// Tolerate reports whether a failure of a step stops neither the run nor the step's
	// dependents; the run still fails. It is called once for each failure, sequentially. Nil
	// tolerates nothing.
	Tolerate func(project string) bool
	// Group returns the group of a step, and how many steps of the group may run at once; zero
	// means no limit. It may be nil.
	Group func(step plan.Step) (name string, limit int)
	// Retry says when a failed operation is retried.
	Retry Retry
	// Retries overrides how often a failed operation of a project is retried, by project.
	Retries map[string]int
	// Timeout limits the work on each project: all attempts, the waits between them, and the
	// hooks. Zero means no limit. Timeouts overrides it by project.
	Timeout  time.Duration
	Timeouts map[string]time.Duration
	Operator Operator
	// Hook does the work of a hook. Hooks that follow a success run after a step that had
	// something to do. After a destroy they also run if nothing was left to destroy, so that a
	// hook that failed before gets another chance.
	Hook func(ctx context.Context, call HookCall, emit func(event.Event)) error
	// RunHooks are the hooks of the run itself. Their events have the project HookProject. If
	// a hook before the run fails, no step starts; if a hook after it fails, the run fails.
	RunHooks []model.Hook
	// Conclude is called after a run without failures, before its last hooks and run.finished.
	// Its error makes the run fail. It may be nil.
	Conclude func() error
	// Emit receives the events; it is called from several goroutines.
	Emit func(event.Event)
	// Stop ends the run gracefully when it is closed: nothing new starts, running steps finish.
	// Cancelling the context of Run stops running steps, too.
	Stop <-chan struct{}
	// Now is the clock for durations; nil means time.Now.
	Now func() time.Time
}

// HookCall describes the call of a hook.
type HookCall struct {
	Hook model.Hook
	Step plan.Step // zero for a hook of the run
	// Result is the result of the step or the run; zero before it.
	Result StepResult
}

// OnError is the policy after the failure of a project.
type OnError string

// The policies. Both skip the dependents of a failed project.
const (
	Stop     OnError = "stop"     // nothing new starts
	Continue OnError = "continue" // steps that do not depend on it still run
)

// Policies lists the names of the policies, the default first.
func Policies() []string { return []string{string(Stop), string(Continue)} }

// Run walks the plan and returns when nothing runs any more. The error is nil if and only if
// the run succeeded. It joins interrupt.ErrInterrupted if the run was interrupted, an error
// for every failed step in plan order, and the error of Conclude.
func Run(ctx context.Context, o Options) (Result, error) {
	needs, dependents, err := o.Plan.Edges()
	if err != nil {
		return Result{}, err
	}
	r := newRun(o, needs, dependents)
	r.announce()
	if r.runHooks(ctx, model.Before, StepResult{}) {
		r.walk(ctx)
	}
	r.settle()
	result, err := r.conclude(ctx)
	return result, errors.Join(result.err(ctx), err)
}

// Result is the result of a run.
type Result struct {
	Operation operation.Operation
	// Outcome is Succeeded, Failed or Interrupted.
	Outcome  event.Result
	Steps    []StepResult // in plan order
	Duration time.Duration
}

// StepResult is the result of a step.
type StepResult struct {
	Project string
	Result  event.Result
	// Reason says why a step was skipped or cancelled, or that it timed out.
	Reason string
	// Causes are the failed projects that the step depends on.
	Causes []string
	// Unchanged is the run since which a skipped step has not changed.
	Unchanged string
	Changes   event.Changes
	Unknown   []string // see Outcome
	Link      string   // see Outcome
	Duration  time.Duration
	// Attempts is the number of attempts; zero for a step that never started.
	Attempts int
	// Err is the error of a failed or cancelled step.
	Err error
}

// err returns the error of the run.
func (r Result) err(ctx context.Context) error {
	var errs []error
	if r.Outcome == event.Interrupted {
		errs = append(errs, interruption(ctx))
	}
	for _, s := range r.Steps {
		if s.Result == event.Failed {
			errs = append(errs, fmt.Errorf("%s %s: %w", r.Operation, s.Project, s.Err))
		}
	}
	return errors.Join(errs...)
}

// interruption returns the error of an interrupted run.
func interruption(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, interrupt.ErrInterrupted) {
		return fmt.Errorf("%w: %w", interrupt.ErrInterrupted, cause)
	}
	return interrupt.ErrInterrupted
}
