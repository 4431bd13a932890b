package executor

import (
	"cmp"
	"container/heap"
	"slices"
)

// queue holds the steps that are ready, the one that goes first on top.
type queue struct {
	rank  []int // by position: its place among all steps
	ready []int // positions, a heap by rank
}

func (q *queue) push(position int) { heap.Push((*byRank)(q), position) }

func (q *queue) pop() int { return heap.Pop((*byRank)(q)).(int) }

func (q *queue) empty() bool { return len(q.ready) == 0 }

// byRank orders a queue for heap.Interface.
type byRank queue

func (q *byRank) Len() int           { return len(q.ready) }
func (q *byRank) Less(i, j int) bool { return q.rank[q.ready[i]] < q.rank[q.ready[j]] }
func (q *byRank) Swap(i, j int)      { q.ready[i], q.ready[j] = q.ready[j], q.ready[i] }
func (q *byRank) Push(x any)         { q.ready = append(q.ready, x.(int)) }
func (q *byRank) Pop() any {
	last := len(q.ready) - 1
	x := q.ready[last]
	q.ready = q.ready[:last]
	return x
}

// ranks returns, by position, which of the ready steps goes first: the one
// after which most time is left to run; of equal ones, and with a limit of one,
// the first in plan order.
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
