package preflight

import (
	"cmp"
	"context"
	"fmt"

	"mara/runner/internal/machine/parallel"
)

// atOnce bounds the checks that run at the same time: they mostly wait.
const atOnce = 8

// Run runs the checks, several at once, and reports their findings in the order of
// the checks. It returns the cause of ctx if that ends before.
func Run(ctx context.Context, checks []Check) (Report, error) {
	results, _ := parallel.Limited(ctx, atOnce, checks, func(ctx context.Context, check Check) (r Result, _ error) {
		if ctx.Err() == nil {
			r = check.result(ctx)
		}
		return r, nil
	})
	if ctx.Err() != nil {
		return Report{}, context.Cause(ctx)
	}
	return Report{Results: results}, nil
}

// result runs the check within its limit. A look that hangs, as on a network disk
// that is gone, is abandoned: nothing can end it.
func (c Check) result(ctx context.Context) Result {
	limit := cmp.Or(c.Limit, DefaultLimit)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found := make(chan []Finding, 1)
	go func() { found <- c.Look(ctx) }()
	result := Result{Name: c.Name, Title: c.Title, Group: c.Group}
	select {
	case result.Findings = <-found:
	case <-ctx.Done():
		text := fmt.Sprintf("no answer within %s", limit)
		result.Findings = Doubtful(text, "try again; if that does not help, look at the network")
	}
	result.Status = worst(result.Findings)
	return result
}
