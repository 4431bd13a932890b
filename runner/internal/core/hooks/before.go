package hooks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/kube/examine"
	"mara/runner/internal/kube/kubeapi"
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
		changes := op.ChangesResources() && !h.Simulated && !forget
		if changes && h.needsNodes(op, step.Project.Name) {
			revived.Do(func() { h.reviveCluster(ctx, emit) })
		}
		if op.RunsPrograms() {
			if err := h.growVolumes(ctx, op, step.Project, emit); err != nil {
				return err
			}
		}
		if !changes {
			return nil
		}
		if op.Deploys() {
			return h.retireScaler(ctx, step.Project, emit)
		}
		return h.Empty(ctx, step, emit)
	}
}

// needsNodes reports whether the nodes of a cluster on this machine have to run
// before the work on a project. An up begins with all of them running, so that
// it finds the cluster as its state says; a destroy of the cluster needs none.
func (h Hooks) needsNodes(op operation.Operation, project string) bool {
	if !h.Provider.Local || h.Nodes == nil {
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
	name, uid, err := h.LocalCluster(ctx)
	if err != nil || name == "" {
		return // there is no cluster
	}
	say := func(text string) { event.Say(emit, event.Warning, "%s", text) }
	if err := h.Nodes.Revive(ctx, h.machine(), name, uid, say); err != nil {
		event.Say(emit, event.Warning, "starting the nodes of the cluster: %v", err)
	}
}

// LocalCluster returns the name and the identity of the deployed cluster on this machine, both empty if there is none.
func (h Hooks) LocalCluster(ctx context.Context) (name, uid string, err error) {
	outputs, err := h.Stacks.Outputs(ctx, h.Provider.ClusterProject, false)
	if err != nil {
		return "", "", err
	}
	name, _ = outputs["cluster_name"].(string)
	uid, _ = outputs["cluster_uid"].(string)
	if name == "" || uid == "" {
		return "", "", nil
	}
	return name, uid, nil
}

// Empty waits until a cluster that is about to be destroyed or replaced has no load balancers and volumes left.
func (h Hooks) Empty(ctx context.Context, cluster plan.Step, emit func(event.Event)) error {
	if h.Simulated || !cluster.Project.LeavesCloudResources {
		return nil
	}
	return h.emptyCluster(ctx, cluster.Project.Name, examine.WaitUntilEmpty, emit)
}

// emptyCluster waits until a cluster that is about to be destroyed has no load
// balancers and volumes left. A cluster that has some, or cannot be asked, is not
// destroyed unless LeaveBehind allows it.
func (h Hooks) emptyCluster(ctx context.Context, project string,
	wait func(context.Context, *kubeapi.Cluster, func(string)) error, emit func(event.Event)) error {
	if h.Stacks.Summary(project).Resources == 0 {
		return nil
	}
	cluster, err := h.connect(ctx, project)
	if err != nil || cluster == nil {
		return err
	}
	err = wait(ctx, cluster, func(text string) { event.Say(emit, event.Info, "%s", text) })
	left, isLeft := errors.AsType[*examine.LeftError](err)
	unknown, isUnknown := errors.AsType[*examine.UnknownError](err)
	switch {
	case (isLeft || isUnknown) && h.LeaveBehind:
		event.Say(emit, event.Warning, "%v; look for load balancers and volumes in the cloud's own console", err)
		return nil
	case isLeft:
		return refusal.By(refusal.LeftBehind, fmt.Errorf("%w. Delete these with kubectl and run the same command again; "+
			"or leave them behind, and pay for them, with --leave-behind", left))
	case isUnknown:
		return refusal.By(refusal.LeftBehind, fmt.Errorf("%w. Make the API server reachable, with valid credentials, and run the same command again; "+
			"or, if the cluster is gone or has no load balancers and volumes, continue with --leave-behind", unknown))
	}
	return err
}

// failedLimit bounds the questions about a failure.
const failedLimit = 10 * time.Second

// Failed follows a step that has failed. If it has waited in vain for Pods, it tells which are not ready, and why; if
// for Namespaces to go, what keeps them. That it cannot is no failure of its own.
func (h Hooks) Failed(ctx context.Context, step plan.Step, failure error, emit func(event.Event)) {
	_, isLate := errors.AsType[*stacks.NotReadyError](failure)
	stuck, isStuck := errors.AsType[*stacks.StuckError](failure)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) { // the step's own time limit
		ctx = context.WithoutCancel(ctx)
	}
	if h.Simulated || ctx.Err() != nil || (!isLate || step.Project.Namespace == "") && !isStuck {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, failedLimit)
	defer cancel()
	var lines []string
	cluster, err := h.connect(ctx, h.Provider.ClusterProject)
	switch {
	case err != nil || cluster == nil:
	case isStuck:
		lines, err = examine.Leaving(ctx, cluster, stuck.Namespaces)
	default:
		lines, err = examine.Pods(ctx, cluster, step.Project.Namespace)
	}
	if err != nil {
		h.Log.Debug("asking why a step has failed", "project", step.Project.Name, "error", h.Masker.Mask(err.Error()))
	}
	for _, line := range lines {
		event.Say(emit, event.Error, "%s", line)
	}
}

// InsideFunc looks inside the Helm releases of a project, and counts what others
// have changed there.
type InsideFunc func(ctx context.Context, project string, emit func(event.Event)) (event.Changes, error)

// Inside returns the function that compares Helm releases with the cluster. It reads
// the cluster's kinds once for all projects.
func (h Hooks) Inside() InsideFunc {
	if h.Simulated {
		return func(context.Context, string, func(event.Event)) (event.Changes, error) { return event.Changes{}, nil }
	}
	var once sync.Once
	var cluster *kubeapi.Cluster
	var failed error
	return func(ctx context.Context, project string, emit func(event.Event)) (event.Changes, error) {
		releases, err := h.Stacks.Releases(ctx, project)
		if err != nil || len(releases) == 0 {
			return event.Changes{}, err
		}
		once.Do(func() { cluster, failed = h.connect(ctx, h.Provider.ClusterProject) })
		switch {
		case failed != nil:
			return event.Changes{}, failed
		case cluster == nil:
			return event.Changes{}, errors.New("looking inside Helm releases: the cluster has no kubeconfig")
		}
		var total event.Changes
		for _, release := range releases {
			found, err := examine.Release(ctx, cluster, release.Namespace, release.Name)
			if err != nil {
				return total, fmt.Errorf("looking inside Helm releases: %s", h.Masker.Mask(err.Error()))
			}
			total = total.Plus(tell(release.Namespace, release.Name, found, emit))
		}
		return total, nil
	}
}

// connect makes clients of the cluster that a project exports; nil if it exports none.
func (h Hooks) connect(ctx context.Context, project string) (*kubeapi.Cluster, error) {
	content, err := h.ClusterKubeconfig(ctx, project)
	if err != nil || content == nil {
		return nil, err
	}
	return kubeapi.Connect(content, h.Env)
}

// tell reports the differences of a release, and how to put them right: neither
// Pulumi nor Helm sees them.
func tell(namespace, release string, found []examine.Difference, emit func(event.Event)) event.Changes {
	var changes event.Changes
	for _, d := range found {
		name := fmt.Sprintf("%s of release %s", d.Name, release)
		if d.Unknown != "" {
			text := fmt.Sprintf("%s %s cannot be compared: %s", d.Kind, name, d.Unknown)
			emit(event.Event{Type: event.RunWarning, Message: text})
			continue
		}
		action := event.Update
		if d.Missing {
			action = event.Delete
			changes.Delete++
		} else {
			changes.Update++
		}
		emit(event.Event{
			Type: event.StepProgress, Resource: event.Resource{Type: d.Kind, Name: name},
			Action: action, Status: event.ActionDone, Properties: d.Fields,
		})
	}
	if changes.Any() {
		event.Say(emit, event.Info,
			"to repair release %[2]s: "+
				"helm get manifest %[2]s -n %[1]s | kubectl apply -n %[1]s --server-side --force-conflicts -f -",
			namespace, release)
	}
	return changes
}
