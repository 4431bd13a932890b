package hooks

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"mara/runner/internal/kube/examine"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/run/event"
)

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
		say(emit, event.Info,
			"to repair release %[2]s: "+
				"helm get manifest %[2]s -n %[1]s | kubectl apply -n %[1]s --server-side --force-conflicts -f -",
			namespace, release)
	}
	return changes
}
