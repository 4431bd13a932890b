package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mara/runner/internal/run/event"
)

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
