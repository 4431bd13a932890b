package preflight

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"
)

// atOnce bounds the checks that run at the same time: they mostly wait.
const atOnce = 8

// Run runs the checks, several at once, and reports their findings in the order of
// the checks. It returns the cause of ctx if that ends before.
func Run(ctx context.Context, checks []Check) (Report, error) {
	results := make([]Result, len(checks))
	free := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() {
			select {
			case free <- struct{}{}:
				defer func() { <-free }()
			case <-ctx.Done():
				return
			}
			results[i] = check.result(ctx)
		})
	}
	all.Wait()
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
	select {
	case findings := <-found:
		return c.found(findings)
	case <-ctx.Done():
		return c.found(unanswered(limit))
	}
}

func (c Check) found(findings []Finding) Result {
	return Result{Name: c.Name, Title: c.Title, Group: c.Group, Status: worst(findings), Findings: findings}
}

// unanswered returns the finding of a check that timed out.
func unanswered(limit time.Duration) []Finding {
	return Doubtful(fmt.Sprintf("no answer within %s", limit), "try again; if that does not help, look at the network")
}
