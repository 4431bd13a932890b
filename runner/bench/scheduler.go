package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"text/tabwriter"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
)

// measureScheduler walks plans whose steps do nothing.
func measureScheduler(_ context.Context, _ options, w io.Writer) error {
	fmt.Fprintln(w, "\n(f) The scheduler alone (goal: linear, below 50µs a step)")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, size := range []int{10, 100, 1000, 5000} {
		p := randomPlan(size)
		result := testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				options := executor.Options{Plan: p, Operation: operation.Up, Parallel: 4, Operator: idle{}}
				if _, err := executor.Run(b.Context(), options); err != nil {
					b.Fatal(err)
				}
			}
		})
		fmt.Fprintf(table, "  %d steps\t%.2fµs a step\n", size, float64(result.NsPerOp())/float64(size)/1000)
	}
	return table.Flush()
}

// idle does nothing.
type idle struct{}

// Operate implements executor.Operator.
func (idle) Operate(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
	return executor.Outcome{}, nil
}

// randomPlan returns a plan whose steps need up to three earlier steps.
func randomPlan(size int) plan.Plan {
	random := rand.New(rand.NewPCG(1, uint64(size)))
	p := plan.Plan{Provider: "bench"}
	for i := range size {
		step := plan.Step{Project: model.Project{Name: fmt.Sprintf("s%d", i)}, Index: i}
		needs := map[int]bool{}
		for range min(i, random.IntN(4)) {
			needs[random.IntN(i)] = true
		}
		for need := range needs {
			step.Reads = append(step.Reads, fmt.Sprintf("s%d", need))
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}
