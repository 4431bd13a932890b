package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"mara/runner/internal/kube/kubeconfig"
)

// ErrNoKind is the error for a kind that the cluster does not have.
var ErrNoKind = errors.New("the cluster has no such kind")

// kind is the resource of a kind of objects.
type kind struct {
	resource   schema.GroupVersionResource
	namespaced bool
}

// kinds caches the kinds of a cluster, by version of a group. client-go's own discovery
// links all types of the Kubernetes API.
type kinds struct {
	ask Ask

	mu    sync.Mutex // protects known
	known map[string]metav1.APIResourceList
}

// of returns the resource of a kind.
func (k *kinds) of(ctx context.Context, wanted schema.GroupVersionKind) (kind, error) {
	list, err := k.in(ctx, wanted.GroupVersion())
	if err != nil {
		return kind{}, err
	}
	i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == wanted.Kind })
	if i < 0 {
		return kind{}, fmt.Errorf("%w: %s", ErrNoKind, wanted)
	}
	found := list.APIResources[i]
	return kind{resource: wanted.GroupVersion().WithResource(found.Name), namespaced: found.Namespaced}, nil
}

// Resource is a kind of objects that a cluster can list.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// Resources lists the resources of the cluster that can be listed, each group in its
// preferred version. It skips a group whose aggregated API does not answer.
func (c Cluster) Resources(ctx context.Context) ([]Resource, error) {
	var groups metav1.APIGroupList
	if err := c.kinds.ask(ctx, "apis", &groups); err != nil {
		return nil, fmt.Errorf("asking the cluster what it has: %w", err)
	}
	found, err := c.kinds.listable(ctx, schema.GroupVersion{Version: "v1"})
	if err != nil {
		return nil, fmt.Errorf("asking the cluster what it has: %w", err)
	}
	for _, group := range groups.Groups {
		version := schema.GroupVersion{Group: group.Name, Version: group.PreferredVersion.Version}
		more, err := c.kinds.listable(ctx, version)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// listable returns the kinds in a version of a group that can be listed.
func (k *kinds) listable(ctx context.Context, version schema.GroupVersion) ([]Resource, error) {
	list, err := k.in(ctx, version)
	if err != nil {
		return nil, err
	}
	var found []Resource
	for _, r := range list.APIResources {
		if slices.Contains(r.Verbs, "list") {
			found = append(found, Resource{version.WithResource(r.Name), r.Kind, r.Namespaced})
		}
	}
	return found, nil
}

// in returns the kinds in a version of a group, none if the version does not exist. It
// reads each version once.
func (k *kinds) in(ctx context.Context, version schema.GroupVersion) (metav1.APIResourceList, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	path := "apis/" + version.String()
	if version.Group == "" {
		path = "api/" + version.Version
	}
	if list, ok := k.known[path]; ok {
		return list, nil
	}
	var list metav1.APIResourceList
	if err := k.ask(ctx, path, &list); err != nil && !errors.Is(err, kubeconfig.ErrNotFound) {
		return list, err
	}
	// Subresources such as deployments/scale have kinds of their own.
	list.APIResources = slices.DeleteFunc(list.APIResources, func(r metav1.APIResource) bool {
		return strings.Contains(r.Name, "/")
	})
	if k.known == nil {
		k.known = map[string]metav1.APIResourceList{}
	}
	k.known[path] = list
	return list, nil
}
