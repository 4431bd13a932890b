package hooks

import (
	"context"
	"errors"
	"time"

	"mara/runner/internal/kube/examine"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/plan"
)

// podsLimit bounds the questions about Pods.
const podsLimit = 10 * time.Second

// Failed follows a step that has failed. If it has waited in vain for Pods, it
// tells which are not ready, and why. That it cannot is no failure of its own.
func (h Hooks) Failed(ctx context.Context, step plan.Step, failure error, emit func(event.Event)) {
	var late *stacks.NotReadyError
	if h.Simulated || ctx.Err() != nil || step.Project.Namespace == "" || !errors.As(failure, &late) {
		return
	}
	lines, err := h.describePods(ctx, step.Project.Namespace)
	if err != nil {
		h.Log.Debug("asking for Pods", "namespace", step.Project.Namespace, "error", h.Masker.Mask(err.Error()))
	}
	for _, line := range lines {
		say(emit, event.Error, "%s", line)
	}
}

// describePods asks the environment's cluster which Pods are not ready.
func (h Hooks) describePods(ctx context.Context, namespace string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, podsLimit)
	defer cancel()
	cluster, err := h.connect(ctx, h.Provider.ClusterProject)
	if err != nil || cluster == nil {
		return nil, err
	}
	return examine.Pods(ctx, cluster, namespace)
}
