package executor

import (
	"context"
	"fmt"
	"time"

	"mara/runner/internal/event"
)

// Retry says when an operation that has failed is tried again. The zero value
// never does.
type Retry struct {
	// Max is how often at most, not counting the first attempt.
	Max int
	// Backoff is the wait before the second attempt. It doubles with every
	// further one, up to two minutes.
	Backoff time.Duration
	// Transient knows the errors that pass by themselves, such as throttling.
	// Nil means none. It is called from several goroutines.
	Transient func(error) bool
	// Locked knows the errors that pass when others end their work. The operation is
	// tried again for up to LockWait, which counts as no attempt.
	Locked   func(error) bool
	LockWait time.Duration
}

// lockInterval is how often what others have locked is tried again.
const lockInterval = 5 * time.Second

// maxBackoff is where the wait between attempts stops growing.
const maxBackoff = 2 * time.Minute

// allows reports whether another attempt follows one that ended with err.
func (r Retry) allows(attempt int, err error) bool {
	return attempt <= r.Max && r.Transient != nil && r.Transient(err)
}

// waitsFor reports whether others may end what the error is about, in time.
func (r Retry) waitsFor(err error, waited time.Duration) bool {
	return err != nil && waited < r.LockWait && r.Locked != nil && r.Locked(err)
}

// wait returns the time after an attempt, counted from one.
func (r Retry) wait(attempt int) time.Duration {
	wait := max(r.Backoff, 0)
	for ; attempt > 1 && wait < maxBackoff; attempt-- {
		wait = min(2*wait, maxBackoff)
	}
	return wait
}

// attempts is what trying an operation has come to.
type attempts struct {
	count   int
	out     Outcome
	err     error
	stopped bool // an interruption came before the next attempt
}

// try does the operation until it succeeds, fails for good, or is interrupted.
func (w worker) try(ctx context.Context) attempts {
	a := attempts{}
	waited := time.Duration(0) // for others
	for {
		a.count++
		var out Outcome
		out, a.err = w.operate(ctx)
		a.out = a.out.followedBy(out)
		if w.Retry.waitsFor(a.err, waited) && ctx.Err() == nil {
			a.count--
			if waited == 0 {
				w.emit(event.Event{Type: event.StepLog, Severity: event.Warning, Message: fmt.Sprintf("waiting up to %s: %v", w.Retry.LockWait, a.err)})
			}
			pause := min(lockInterval, w.Retry.LockWait-waited)
			waited += pause
			if a.stopped = !w.pause(ctx, pause); a.stopped {
				return a
			}
			continue
		}
		if a.err == nil || ctx.Err() != nil || !w.Retry.allows(a.count, a.err) {
			return a
		}
		wait := w.Retry.wait(a.count)
		w.emit(event.Event{Type: event.StepRetrying, Error: a.err.Error(), Attempt: a.count + 1, WaitMS: wait.Milliseconds()})
		if a.stopped = !w.pause(ctx, wait); a.stopped {
			return a
		}
	}
}

// pause waits and reports whether the work may go on. The user's wish to stop
// ends it at once: another attempt would be something new.
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
	select { // both may have been there
	case <-w.Stop:
		return false
	default:
		return ctx.Err() == nil
	}
}

// followedBy returns the outcome of two attempts. What the first has changed is the
// same for the second, so it must not count twice.
func (o Outcome) followedBy(next Outcome) Outcome {
	done := o.Changes
	next.Changes.Same = max(next.Changes.Same-done.Create-done.Update-done.Replace, 0)
	done.Same = 0
	next.Changes = done.Plus(next.Changes)
	return next
}
