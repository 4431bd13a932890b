package lock

import (
	"context"
	"errors"

	"mara/runner/internal/machine/failure"
)

// Failed adds a hint to errors of Acquire that are about the directory .runner.
func Failed(ctx context.Context, err error) error {
	var held *HeldError
	if errors.As(err, &held) || ctx.Err() != nil {
		return err
	}
	return failure.RunnerDir(err)
}
