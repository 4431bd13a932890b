package executor

import (
	"context"
	"fmt"
	"time"

	"mara/runner/internal/core/event"
)

// Retry says when a failed operation is retried. The zero value never retries.
type Retry struct {
	// Max is the maximum number of retries.
	Max int
	// Backoff is the wait before the first retry. It doubles with every further one, up to two
	// minutes.
	Backoff time.Duration
	// Transient reports whether an error is temporary, such as throttling. Nil means none are.
	// It is called from several goroutines.
	Transient func(error) bool
	// Locked reports whether an error is about a lock of another process. The operation is
	// retried for up to LockWait, without counting attempts.
	Locked   func(error) bool
	LockWait time.Duration
}

// lockInterval is the time between retries on a lock.
const lockInterval = 5 * time.Second

// maxBackoff is the longest wait between attempts.
const maxBackoff = 2 * time.Minute

// allows reports whether an attempt that failed with err is retried.
func (r Retry) allows(attempt int, err error) bool {
	return attempt <= r.Max && r.Transient != nil && r.Transient(err)
}

// waitsFor reports whether an error is about a lock that is still worth waiting for.
func (r Retry) waitsFor(err error, waited time.Duration) bool {
	return err != nil && waited < r.LockWait && r.Locked != nil && r.Locked(err)
}

// wait returns the wait after an attempt, counted from one.
func (r Retry) wait(attempt int) time.Duration {
	wait := max(r.Backoff, 0)
	for ; attempt > 1 && wait < maxBackoff; attempt-- {
		wait = min(2*wait, maxBackoff)
	}
	return wait
}

// attempts is the result of all attempts of an operation.
type attempts struct {
	count   int
	out     Outcome
	err     error
	stopped bool // interrupted before the next attempt
}

// try repeats the operation until it succeeds, fails permanently, or is interrupted.
func (w worker) try(ctx context.Context) attempts {
	a := attempts{}
	retry := w.Retry
	if most, ok := w.Retries[w.step.Project.Name]; ok {
		retry.Max = most
	}
	waited := time.Duration(0) // for locks
	for {
		a.count++
		var out Outcome
		out, a.err = w.operate(ctx)
		a.out = a.out.followedBy(out)
		if w.Retry.waitsFor(a.err, waited) && ctx.Err() == nil {
			a.count--
			if waited == 0 {
				w.emit(event.Event{Type: event.StepLog, Severity: event.Warning,
					Message: fmt.Sprintf("waiting up to %s: %v", w.Retry.LockWait, a.err)})
			}
			pause := min(lockInterval, w.Retry.LockWait-waited)
			waited += pause
			if a.stopped = !w.pause(ctx, pause); a.stopped {
				return a
			}
			continue
		}
		if a.err == nil || ctx.Err() != nil || !retry.allows(a.count, a.err) {
			return a
		}
		wait := w.Retry.wait(a.count)
		w.emit(event.Event{Type: event.StepRetrying, Error: a.err.Error(), Attempt: a.count + 1, WaitMS: wait.Milliseconds()})
		if a.stopped = !w.pause(ctx, wait); a.stopped {
			return a
		}
	}
}

// pause waits and reports whether the work may continue. A stop by the user ends it at once:
// another attempt would be something new.
func (w worker) pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-w.Stop:
		return false
	case <-timer.C:
	}
	select { // both may have happened
	case <-w.Stop:
		return false
	default:
		return ctx.Err() == nil
	}
}

// followedBy returns the outcome of two attempts. Changes of the first attempt are unchanged
// resources for the second, so they must not count twice.
func (o Outcome) followedBy(next Outcome) Outcome {
	done := o.Changes
	next.Changes.Same = max(next.Changes.Same-done.Create-done.Update-done.Replace, 0)
	done.Same = 0
	next.Changes = done.Plus(next.Changes)
	return next
}
