package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mara/runner/internal/event"
)

// TimeoutError says that the work on a project took longer than it may. It is
// also the cause of the context that an operator sees cancelled.
type TimeoutError struct{ Limit time.Duration }

// Error names the limit.
func (e *TimeoutError) Error() string { return "timed out after " + event.FormatDuration(e.Limit) }

// with adds what the operator said when it was cancelled, unless that is it.
func (e *TimeoutError) with(err error) error {
	if errors.Is(err, e) {
		return err
	}
	return fmt.Errorf("%w: %w", e, err)
}

// limited puts the time limit on a context.
func (w worker) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, w.limit, &TimeoutError{Limit: w.limit})
}
