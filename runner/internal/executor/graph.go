package executor

import (
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
		for _, name := range s.All() {
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
