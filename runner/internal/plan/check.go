package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/config"
)

// check reports everything that is wrong with a list of projects: names first,
// because edges between unknown names mean nothing, then cycles, then order.
func check(steps []Step) error {
	if err := errors.Join(checkNames(steps)...); err != nil {
		return err
	}
	if cycle := findCycle(steps); cycle != nil {
		return fmt.Errorf("projects need each other in a circle: %s", strings.Join(cycle, " -> "))
	}
	return errors.Join(checkOrder(steps)...)
}

func checkNames(steps []Step) []error {
	var errs []error
	position := indexOf(steps)
	var names []string
	for i, step := range steps {
		name := step.Project.Name
		switch {
		case name == "":
			errs = append(errs, fmt.Errorf("project %d has no name", i+1))
		case position[name] != i:
			errs = append(errs, fmt.Errorf("project %q is listed twice", name))
		}
		names = append(names, name)
	}
	for _, step := range steps {
		for _, need := range step.All() {
			if _, ok := position[need]; !ok {
				errs = append(errs, fmt.Errorf("project %q needs %q, which is not in the plan%s",
					step.Project.Name, need, config.DidYouMean(need, names)))
			}
		}
	}
	return errs
}

func checkOrder(steps []Step) []error {
	var errs []error
	position := indexOf(steps)
	for i, step := range steps {
		for _, need := range step.All() {
			if position[need] > i {
				errs = append(errs, fmt.Errorf("project %q is listed before %q, which it needs", step.Project.Name, need))
			}
		}
	}
	return errs
}

// findCycle is the first cycle, as the names along it with the first one again
// at the end; nil when there is none. It walks the edges depth first: a step
// that is met again while it is still on the path closes a cycle.
func findCycle(steps []Step) []string {
	position := indexOf(steps)
	done := make([]bool, len(steps))
	var path []string
	var visit func(i int) []string
	visit = func(i int) []string {
		name := steps[i].Project.Name
		if at := slices.Index(path, name); at >= 0 {
			return append(slices.Clone(path[at:]), name)
		}
		if done[i] {
			return nil
		}
		path = append(path, name)
		for _, need := range steps[i].All() {
			if cycle := visit(position[need]); cycle != nil {
				return cycle
			}
		}
		path = path[:len(path)-1]
		done[i] = true
		return nil
	}
	for i := range steps {
		if cycle := visit(i); cycle != nil {
			return cycle
		}
	}
	return nil
}
