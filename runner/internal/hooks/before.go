package hooks

import (
	"context"
	"errors"
	"fmt"

	"mara/operation"
	"mara/runner/internal/event"
	"mara/runner/internal/plan"
	"mara/runner/internal/remains"
)

// BeforeFunc is what comes before the work on a step; its error keeps the work
// from being done.
type BeforeFunc func(ctx context.Context, step plan.Step, emit func(event.Event)) error

// Before is what comes before the steps of an operation.
func (h Hooks) Before(op operation.Operation, forget bool) BeforeFunc {
	return func(ctx context.Context, step plan.Step, emit func(event.Event)) error {
		// A simulated cluster makes nothing by itself, and one to be forgotten
		// is gone already.
		if !op.Destroys() || !step.Project.LeavesCloudResources || h.Simulated || forget {
			return nil
		}
		return h.emptyCluster(ctx, step.Project.Name, remains.Wait, emit)
	}
}

// emptyCluster waits until a cluster that is about to be destroyed has no load
// balancers and volumes left. A cluster that does not answer may be half
// destroyed already, so it only earns a warning.
func (h Hooks) emptyCluster(
	ctx context.Context, project string, wait func(context.Context, remains.Options) error, emit func(event.Event),
) error {
	if h.Stacks.Summary(project).Resources == 0 {
		return nil
	}
	content, err := h.clusterKubeconfig(ctx, project)
	if err != nil || content == nil {
		return err
	}
	say := func(severity event.Severity) func(string) {
		return func(text string) { emit(event.Event{Type: event.StepLog, Severity: severity, Message: text}) }
	}
	err = wait(ctx, remains.Options{Kubeconfig: content, Env: h.Env, Say: say(event.Info)})
	var left *remains.LeftError
	var silent *remains.UnreachableError
	switch {
	case errors.As(err, &left):
		return fmt.Errorf("%w. Delete these with kubectl and run the same command again; "+
			"or leave them behind, and pay for them, with `runner pulumi %s -- destroy`", left, project)
	case errors.As(err, &silent):
		say(event.Warning)(silent.Error() + "; look for load balancers and volumes in the cloud's own console")
		return nil
	}
	return err
}
