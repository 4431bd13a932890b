package executor

import (
	"container/heap"
	"fmt"

	"mara/runner/internal/plan"
)

// graph is a plan by positions instead of names.
type graph struct {
	needs      [][]int // what a step waits for
	dependents [][]int // what waits for a step
}

// newGraph resolves the names in the steps. A plan that has been built by
// package plan has none of the mistakes that are refused here; without the
// check they would leave steps that never start.
func newGraph(steps []plan.Step) (graph, error) {
	g := graph{needs: make([][]int, len(steps)), dependents: make([][]int, len(steps))}
	position := make(map[string]int, len(steps))
	for i, s := range steps {
		if _, twice := position[s.Project.Name]; twice {
			return graph{}, fmt.Errorf("plan: project %q is listed twice", s.Project.Name)
		}
		for _, name := range s.Needs() {
			need, ok := position[name]
			if !ok {
				return graph{}, fmt.Errorf("plan: project %q needs %q, which is not listed before it", s.Project.Name, name)
			}
			g.needs[i] = append(g.needs[i], need)
			g.dependents[need] = append(g.dependents[need], i)
		}
		position[s.Project.Name] = i
	}
	return g, nil
}

// queue holds the steps that are ready, the first in plan order on top.
type queue struct{ positions []int }

func (q *queue) push(position int) { heap.Push((*byPosition)(&q.positions), position) }

func (q *queue) pop() int { return heap.Pop((*byPosition)(&q.positions)).(int) }

func (q *queue) empty() bool { return len(q.positions) == 0 }

// byPosition orders ready steps for heap.Interface.
type byPosition []int

func (p byPosition) Len() int           { return len(p) }
func (p byPosition) Less(i, j int) bool { return p[i] < p[j] }
func (p byPosition) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *byPosition) Push(x any)        { *p = append(*p, x.(int)) }
func (p *byPosition) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}
