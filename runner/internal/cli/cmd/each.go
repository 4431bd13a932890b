package cmd

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Each works on all items, several at once, and returns the results in their order.
func Each[I, R any](ctx context.Context, items []I, work func(context.Context, I) (R, error)) ([]R, error) {
	results := make([]R, len(items))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(DefaultParallel)
	for i, item := range items {
		group.Go(func() (err error) {
			results[i], err = work(ctx, item)
			return err
		})
	}
	return results, group.Wait()
}
