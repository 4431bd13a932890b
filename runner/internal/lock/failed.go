package lock

import (
	"context"
	"errors"

	"mara/runner/internal/failure"
)

// Failed returns the error to show when Acquire has failed in the folder .runner.
func Failed(ctx context.Context, err error) error {
	var held *HeldError
	if errors.As(err, &held) || ctx.Err() != nil {
		return err
	}
	return failure.RunnerFolder(err)
}
