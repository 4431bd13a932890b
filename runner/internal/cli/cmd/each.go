package cmd

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Each calls work for all items, in parallel, and returns the results in the order of the items.
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
