package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"mara/runner/internal/kubeconfig"
)

// ErrNoKind says that the cluster has no such kind.
var ErrNoKind = errors.New("the cluster has no such kind")

// kind is how the API serves a kind of objects.
type kind struct {
	resource   schema.GroupVersionResource
	namespaced bool
}

// kinds knows the kinds that a cluster has. Each version of a group is asked for
// once. client-go's own discovery links all types of the Kubernetes API.
type kinds struct {
	ask Ask

	mu    sync.Mutex // protects known
	known map[string]metav1.APIResourceList
}

// of finds a kind.
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

// Resources are what the cluster can list, of each group in the version that it
// prefers. An API that is served by something else in the cluster, and does not
// answer, is left out.
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

// listable are the kinds in a version of a group that can be listed.
func (k *kinds) listable(ctx context.Context, version schema.GroupVersion) ([]Resource, error) {
	list, err := k.in(ctx, version)
	if err != nil {
		return nil, err
	}
	listed := slices.DeleteFunc(slices.Clone(list.APIResources), func(r metav1.APIResource) bool { return !slices.Contains(r.Verbs, "list") })
	return slice.Map(listed, func(r metav1.APIResource) Resource {
		return Resource{version.WithResource(r.Name), r.Kind, r.Namespaced}
	}), nil
}

// in lists the kinds in a version of a group; there are none if there is no such
// version.
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
	list.APIResources = slices.DeleteFunc(list.APIResources, func(r metav1.APIResource) bool { return strings.Contains(r.Name, "/") })
	if k.known == nil {
		k.known = map[string]metav1.APIResourceList{}
	}
	k.known[path] = list
	return list, nil
}
