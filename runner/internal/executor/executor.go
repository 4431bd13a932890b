// Package executor walks a plan: it starts every step as soon as what the step
// needs is done, within a limit, and says what happened in events. It knows
// neither Pulumi nor a terminal; an Operator does the work of a step.
//
// The algorithm counts, for every step, the needs that are still open. A step
// with none is ready; of the ready ones that with the longest remaining path
// starts first, by the estimates, or without any the first in plan order. A
// limit of one gives exactly the listed order. A step that succeeds, or that
// was skipped because there was nothing to do, closes one need of each of its
// dependents. One goroutine, that of Run, owns all state; each running step has
// a goroutine of its own, which only sends back its result.
//
// After a failure or an interruption nothing new starts, what runs is finished,
// and then every step that never started is given its result: skipped with the
// failed projects as causes if it depends on one, skipped because the run
// stopped if it does not, cancelled if the user interrupted. With the policy
// Continue only an interruption stops the run; what depends on no failure runs.
//
// An operation that fails in a way that passes may be tried again. The whole
// work on a project may have a time limit, which cancels it the way a user does
// but makes it a failure.
package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mara/projects"
	"mara/providers/operation"
	"mara/runner/internal/event"
	"mara/runner/internal/interrupt"
	"mara/runner/internal/plan"
)

// Operator does the work of one step. It is called from several goroutines.
// Events go through emit, which adds the project; emit must not be used after
// Operate has returned. When ctx is cancelled, Operate stops its work and
// returns an error.
type Operator interface {
	Operate(ctx context.Context, step plan.Step, emit func(event.Event)) (Outcome, error)
}

// Outcome is what an operator has done. It counts even beside an error.
type Outcome struct {
	Changes event.Changes
	// Skipped is the reason why there was nothing to do, such as "never
	// deployed". What depends on such a step still runs.
	Skipped string
	// Unchanged is the run since which nothing has changed, where that is why there
	// was nothing to do.
	Unchanged string
	// Unknown are the projects whose outputs a preview did not know.
	Unknown []string
}

// Options are the inputs of Run.
type Options struct {
	// Plan is walked in its order; for destroy the caller passes the reversed
	// plan.
	Plan      plan.Plan
	Operation operation.Operation
	// Stack and Simulated are passed on in run.started.
	Stack     string
	Simulated bool
	// Parallel is how many steps may run at once; less than one counts as one.
	Parallel int
	// Estimates decide what starts first when there is a choice; it matters
	// only if more than one step may run at once.
	Estimates plan.Estimates
	// OnError is what a failure does to the rest; empty means Stop.
	OnError OnError
	// Tolerate reports whether the failure of a step neither stops the run nor keeps
	// what needs the step from starting; the run fails all the same. It is asked once
	// for each failure, one after the other. Nil tolerates nothing.
	Tolerate func(project string) bool
	// Group is the group of a step, and how many of a group may run at once; zero
	// is no limit but Parallel. It may be nil.
	Group func(step plan.Step) (name string, limit int)
	// Retry says when an operation is tried again.
	Retry Retry
	// Timeout limits the work on each project: all attempts, the waits between
	// them, and the hooks. Zero means no limit. Timeouts are those of single
	// projects, by name, in its place.
	Timeout  time.Duration
	Timeouts map[string]time.Duration
	Operator Operator
	// Hook does the work of a hook. Those that follow a success come after a step
	// that had something to do; after a destroy also when there was nothing left
	// to destroy, so that a hook that failed the first time is made good.
	Hook func(ctx context.Context, call HookCall, emit func(event.Event)) error
	// RunHooks are those of the run itself. Their events carry HookProject. One that
	// fails before the run keeps every step from starting; one that fails after it
	// makes the run fail.
	RunHooks []projects.Hook
	// Conclude is called after a run in which every step has gone well, before its
	// last hooks and run.finished; its error makes the run a failure. It may be nil.
	Conclude func() error
	// Emit receives the events; it is called from several goroutines.
	Emit func(event.Event)
	// Stop ends the run gently when it is closed: nothing new starts, running
	// steps finish. Cancelling the context of Run stops the running ones, too.
	Stop <-chan struct{}
	// Now is the clock for durations; nil means time.Now.
	Now func() time.Time
}

// HookCall is what a hook is about.
type HookCall struct {
	Hook projects.Hook
	Step plan.Step // zero for a hook of the run
	// Result is how the step, or the run, has ended; nothing before it.
	Result StepResult
}

// HookProject stands for the run in the events of its hooks.
const HookProject = event.RunProject

// OnError is what the failure of one project does to the others.
type OnError string

// The policies. In both, what depends on a failed project is skipped.
const (
	Stop     OnError = "stop"     // nothing new starts
	Continue OnError = "continue" // what does not depend on it goes on
)

// Policies lists the names of the policies, the default first.
func Policies() []string { return []string{string(Stop), string(Continue)} }

// Run walks the plan and returns when nothing runs any more. The error is nil
// if and only if the result is a success; it joins interrupt.ErrInterrupted, if
// the run was, one StepError for every failed step, in plan order, and the error
// of Conclude.
func Run(ctx context.Context, o Options) (Result, error) {
	needs, dependents, err := o.Plan.Edges()
	if err != nil {
		return Result{}, err
	}
	r := newRun(o, needs, dependents)
	r.announce()
	if r.runHooks(ctx, projects.Before, StepResult{}) {
		r.walk(ctx)
	}
	r.settle()
	result, err := r.conclude(ctx)
	return result, errors.Join(result.err(ctx), err)
}

// StepError is the failure of one step.
type StepError struct {
	Project   string
	Operation operation.Operation
	Err       error
}

// Error names operation and project, and says what went wrong.
func (e *StepError) Error() string {
	return fmt.Sprintf("%s %s: %v", e.Operation, e.Project, e.Err)
}

// Unwrap returns what went wrong.
func (e *StepError) Unwrap() error { return e.Err }

// Result is what became of a run.
type Result struct {
	Operation operation.Operation
	// Outcome is Succeeded, Failed or Interrupted.
	Outcome  event.Result
	Steps    []StepResult // in plan order
	Duration time.Duration
}

// StepResult is what became of a step.
type StepResult struct {
	Project string
	Result  event.Result
	// Reason says why a step was skipped or cancelled, or that it took too
	// long.
	Reason string
	// Causes are the failed projects that kept the step from starting.
	Causes []string
	// Unchanged is the run since which nothing has changed for a skipped step.
	Unchanged string
	Changes   event.Changes
	Unknown   []string // see Outcome
	Duration  time.Duration
	// Attempts is how often the operation was tried; zero for a step that never
	// started.
	Attempts int
	// Err is why a step failed, or what its operator said when it was
	// cancelled.
	Err error
}

// err returns the error that goes with the result.
func (r Result) err(ctx context.Context) error {
	var errs []error
	if r.Outcome == event.Interrupted {
		errs = append(errs, interruption(ctx))
	}
	for _, s := range r.Steps {
		if s.Result == event.Failed {
			errs = append(errs, &StepError{Project: s.Project, Operation: r.Operation, Err: s.Err})
		}
	}
	return errors.Join(errs...)
}

// interruption says what interrupted the run.
func interruption(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, interrupt.ErrInterrupted) {
		return fmt.Errorf("%w: %w", interrupt.ErrInterrupted, cause)
	}
	return interrupt.ErrInterrupted
}
