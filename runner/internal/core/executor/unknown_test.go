package executor_test

import (
	"context"
	"slices"
	"testing"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
)

// previewer is an operator that does not know the outputs of a.
type previewer struct{}

func (previewer) Operate(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
	return executor.Outcome{Unknown: []string{"a"}}, nil
}

func TestPartialPreviewsAreReported(t *testing.T) {
	t.Parallel()
	var unknown []string
	result, err := executor.Run(t.Context(), executor.Options{
		Plan: planOf("b"), Operation: operation.Preview, Operator: previewer{},
		Emit: func(e event.Event) {
			if e.Type == event.StepFinished {
				unknown = e.Unknown
			}
		},
	})
	if err != nil || !slices.Equal(unknown, []string{"a"}) || !slices.Equal(result.Steps[0].Unknown, []string{"a"}) {
		t.Errorf("unknown %v, result %+v, %v", unknown, result.Steps, err)
	}
}
