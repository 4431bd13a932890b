package executor

import (
	"cmp"
	"slices"
)

// queue holds the steps that are ready.
type queue struct {
	rank  []int // by position: rank among all steps
	ready []int // positions, in the order of their ranks
}

func (q *queue) push(position int) {
	at, _ := slices.BinarySearchFunc(q.ready, q.rank[position], func(p, rank int) int { return q.rank[p] - rank })
	q.ready = slices.Insert(q.ready, at, position)
}

func (q *queue) empty() bool { return len(q.ready) == 0 }

// pop removes the first step that may start now; ok is false if there is none.
func (q *queue) pop(mayStart func(position int) bool) (position int, ok bool) {
	i := slices.IndexFunc(q.ready, mayStart)
	if i < 0 {
		return 0, false
	}
	position = q.ready[i]
	q.ready = slices.Delete(q.ready, i, i+1)
	return position, true
}

// ranks returns the ranks of the steps by position. A step with a longer remaining path starts
// first; among equal steps, and with a limit of one, the first in plan order.
func ranks(o Options) []int {
	order := make([]int, len(o.Plan.Steps))
	for i := range order {
		order[i] = i
	}
	if o.Parallel > 1 {
		remaining := o.Plan.Remaining(o.Estimates)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remaining[b], remaining[a]) })
	}
	rank := make([]int, len(order))
	for place, position := range order {
		rank[position] = place
	}
	return rank
}
