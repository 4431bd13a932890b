package hooks

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"mara/projects/model/operation"
	"mara/runner/internal/kube/examine"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/containers"
	"mara/runner/internal/machine/kindnodes"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/plan"
)

// BeforeFunc is what comes before the work on a step; its error keeps the work
// from being done.
type BeforeFunc func(ctx context.Context, step plan.Step, emit func(event.Event)) error

// Before returns the function that runs before each step of an operation.
func (h Hooks) Before(op operation.Operation, forget bool) BeforeFunc {
	var revived sync.Once
	return func(ctx context.Context, step plan.Step, emit func(event.Event)) error {
		// A simulated cluster creates nothing by itself, and one to be forgotten
		// is gone already.
		if !op.ChangesResources() || h.Simulated || forget {
			return nil
		}
		name := step.Project.Name
		if h.needsNodes(op, name) {
			revived.Do(func() { h.reviveCluster(ctx, emit) })
		}
		if !op.Destroys() || !step.Project.LeavesCloudResources {
			return nil
		}
		return h.emptyCluster(ctx, name, examine.WaitUntilEmpty, emit)
	}
}

// needsNodes reports whether the nodes of a cluster on this machine have to run
// before the work on a project. An up begins with all of them running, so that
// it finds the cluster as its state says; a destroy of the cluster needs none.
func (h Hooks) needsNodes(op operation.Operation, project string) bool {
	if !h.Provider.Local {
		return false
	}
	cluster := h.Provider.ClusterProject
	if op.Deploys() {
		return h.Stacks.Summary(cluster).Resources > 0
	}
	return project != cluster && h.Stacks.Summary(project).Resources > 0
}

// reviveCluster starts the nodes of a cluster on this machine that are stopped:
// what is in the cluster can only be changed while it runs. A failure is no more
// than a warning, for the projects' own errors follow.
func (h Hooks) reviveCluster(ctx context.Context, emit func(event.Event)) {
	outputs, err := h.Stacks.Outputs(ctx, h.Provider.ClusterProject, false)
	name, _ := outputs["cluster_name"].(string)
	uid, _ := outputs["cluster_uid"].(string)
	if err != nil || name == "" || uid == "" {
		return // there is no cluster
	}
	runtime, err := containers.FindIn(h.Env, h.Runtime)
	if err == nil {
		err = kindnodes.Revive(ctx, runtime, name, uid, func(text string) { say(emit, event.Info, "%s", text) })
	}
	if err != nil {
		say(emit, event.Warning, "starting the nodes of the cluster: %v", err)
	}
}

// emptyCluster waits until a cluster that is about to be destroyed has no load
// balancers and volumes left. A cluster that has some, or cannot be asked, is not
// destroyed unless LeaveBehind allows it.
func (h Hooks) emptyCluster(
	ctx context.Context, project string, wait func(context.Context, *kubeapi.Cluster, func(string)) error,
	emit func(event.Event),
) error {
	if h.Stacks.Summary(project).Resources == 0 {
		return nil
	}
	cluster, err := h.connect(ctx, project)
	if err != nil || cluster == nil {
		return err
	}
	err = wait(ctx, cluster, func(text string) { say(emit, event.Info, "%s", text) })
	var left *examine.LeftError
	var unknown *examine.UnknownError
	isLeft, isUnknown := errors.As(err, &left), errors.As(err, &unknown)
	switch {
	case (isLeft || isUnknown) && h.LeaveBehind:
		say(emit, event.Warning, "%v; look for load balancers and volumes in the cloud's own console", err)
		return nil
	case isLeft:
		return fmt.Errorf("%w. Delete these with kubectl and run the same command again; "+
			"or leave them behind, and pay for them, with --leave-behind", left)
	case isUnknown:
		return fmt.Errorf("%w. Make the API server reachable, with valid credentials, and run the same command again; "+
			"or, if the cluster is gone or has no load balancers and volumes, continue with --leave-behind", unknown)
	}
	return err
}
