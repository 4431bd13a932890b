package cli

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/extend"
)

// Arrange checks the words of a command line, as execute does.
func Arrange(all []*cli.Command, words []string) error {
	_, err := arrange(all, words)
	return err
}

// Looks returns the commands that only look, and those of them whose output is exact.
func Looks(features []extend.Feature) (looking, exactly []string) { return looks(features), exact() }

// EndSoon does work that may be left alone when ctx ends.
func EndSoon(ctx context.Context, work func() error) error { return endSoon(ctx, work) }

// Patience is how long a command that only looks may take to end by itself.
const Patience time.Duration = patience
