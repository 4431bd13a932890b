package record

import (
	"context"

	"mara/runner/internal/core/session"
)

// IsKnown reads the record of a session's environment, and tells whether there is one.
func IsKnown(ctx context.Context, s *session.Resolved) (bool, error) {
	last, err := read(ctx, s, nil)
	return last.isKnown(), err
}
