// Package parallel does work on many items at once.
package parallel

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// atOnce is how many items Each works on at once.
const atOnce = 4

// Each calls work for all items, in parallel, and returns the results in the order of the items.
func Each[I, R any](ctx context.Context, items []I, work func(context.Context, I) (R, error)) ([]R, error) {
	return Limited(ctx, atOnce, items, work)
}

// Limited works as Each, on so many items at once.
func Limited[I, R any](ctx context.Context, atOnce int, items []I, work func(context.Context, I) (R, error)) (
	[]R, error) {
	results := make([]R, len(items))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, item := range items {
		group.Go(func() (err error) {
			results[i], err = work(ctx, item)
			return err
		})
	}
	return results, group.Wait()
}
