// Package kubeapi reads objects of any kind from a cluster's API server, and applies
// them as a dry run. It changes nothing: its connections refuse to send a change that
// is not a dry run, except those of the resources that a caller names.
package kubeapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"mara/runner/internal/kube/kubeconfig"
)

// ErrNoKind is the error for a kind that the cluster does not have.
var ErrNoKind = errors.New("the cluster has no such kind")

// Cluster is a cluster's API server.
type Cluster struct {
	Objects  dynamic.Interface
	Metadata metadata.Interface // reads objects without their content
	kinds    discovery.DiscoveryInterfaceWithContext
	plain    rest.Interface // for logs; nil in a cluster that New made

	mu    sync.Mutex // protects known
	known map[schema.GroupVersion]*metav1.APIResourceList
}

// New returns a cluster with these clients.
func New(objects dynamic.Interface, kinds discovery.DiscoveryInterfaceWithContext) *Cluster {
	return &Cluster{Objects: objects, kinds: kinds, known: map[schema.GroupVersion]*metav1.APIResourceList{}}
}

// Connect makes clients of the cluster of a kubeconfig. env is added to the environment
// of a command in it that gets a token. The clients may make these changes, such as "create backups.velero.io",
// "delete restores.velero.io", "patch persistentvolumeclaims", or "create token" of the core API.
func Connect(content []byte, env map[string]string, changes ...string) (*Cluster, error) {
	config, err := kubeconfig.Config(content, env)
	if err != nil {
		return nil, err
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return onlyDryRuns{next, changes} })
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	cluster := New(objects, kinds)
	plain := rest.CopyConfig(config) // the client of kinds ends each request after 32 seconds, and a log may be followed
	plain.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme())
	if cluster.plain, err = rest.UnversionedRESTClientFor(plain); err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	cluster.Metadata, err = metadata.NewForConfig(config)
	return cluster, err
}

// OnlyReads returns a transport that refuses to send requests which would change something. Questions of a user about
// itself are no changes, although they are sent as objects to create.
func OnlyReads(next http.RoundTripper) http.RoundTripper { return onlyDryRuns{next: next} }

// aboutSelf returns the paths of the questions of a user about itself.
func aboutSelf() []string {
	return []string{
		"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
	}
}

// onlyDryRuns refuses requests that would change something.
type onlyDryRuns struct {
	next    http.RoundTripper
	changes []string // that may be made nevertheless
}

// RoundTrip implements http.RoundTripper.
func (o onlyDryRuns) RoundTrip(r *http.Request) (*http.Response, error) {
	isQuestion := r.Method == http.MethodPost && slices.ContainsFunc(aboutSelf(), func(question string) bool {
		return strings.HasSuffix(r.URL.Path, question) // the server may be below a path
	})
	isDryRun := slices.Equal(r.URL.Query()["dryRun"], []string{metav1.DryRunAll})
	if r.Method != http.MethodGet && !isQuestion && !isDryRun && !o.allows(r) {
		return nil, fmt.Errorf("%s %s would change the cluster, and is not sent", r.Method, r.URL.Path)
	}
	return o.next.RoundTrip(r)
}

// allows reports whether a request makes a change that may be made.
func (o onlyDryRuns) allows(r *http.Request) bool {
	return slices.ContainsFunc(o.changes, func(change string) bool {
		verb, name, _ := strings.Cut(change, " ")
		resource, group, hasGroup := strings.Cut(name, ".")
		of, collection := "/api/v1/", r.URL.Path
		if hasGroup {
			of = "/apis/" + group + "/"
		}
		method := http.MethodPost
		switch verb { // an object, never all of them
		case "delete":
			method, collection = http.MethodDelete, path.Dir(r.URL.Path)
		case "patch":
			method, collection = http.MethodPatch, path.Dir(r.URL.Path)
		}
		return r.Method == method && strings.Contains(collection, of) && strings.HasSuffix(collection, "/"+resource)
	})
}

// List lists the objects of a resource of the core API whose labels match the selector, in a namespace or, if it is "",
// in all. T is Go's type of them.
func List[T any](ctx context.Context, c *Cluster, resource, namespace, selector string) ([]T, error) {
	core := schema.GroupVersionResource{Version: "v1", Resource: resource}
	found, err := c.Objects.Resource(core).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource, err)
	}
	objects := make([]T, len(found.Items))
	for i, item := range found.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &objects[i]); err != nil {
			return nil, fmt.Errorf("listing %s: %w", resource, err)
		}
	}
	return objects, nil
}

// Resource is a kind of objects that a cluster can list.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// Resources lists the resources of the cluster that can be listed, in the version that it
// prefers. It skips a group whose aggregated API does not answer.
func (c *Cluster) Resources(ctx context.Context) ([]Resource, error) {
	lists, err := c.kinds.ServerPreferredResourcesWithContext(ctx)
	failed, _ := discovery.GroupDiscoveryFailedErrorGroups(err)
	_, isCore := failed[schema.GroupVersion{Version: "v1"}]
	if err != nil && (failed == nil || isCore || ctx.Err() != nil) {
		return nil, fmt.Errorf("asking the cluster what it has: %w", err)
	}
	var found []Resource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("asking the cluster what it has: %w", err)
		}
		for _, r := range list.APIResources {
			if slices.Contains(r.Verbs, "list") {
				found = append(found, Resource{version.WithResource(r.Name), r.Kind, r.Namespaced})
			}
		}
	}
	slices.SortFunc(found, func(a, b Resource) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource))
	})
	return found, nil
}

// Metrics returns the metrics of the API server, in the text format of Prometheus.
func (c *Cluster) Metrics(ctx context.Context) ([]byte, error) {
	content, err := c.kinds.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of the API server: %w", err)
	}
	return content, nil
}

// resource returns the resource of a kind. It reads each version of a group once.
func (c *Cluster) resource(ctx context.Context, kind schema.GroupVersionKind) (Resource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, known := c.known[kind.GroupVersion()]
	if !known {
		var err error
		list, err = c.kinds.ServerResourcesForGroupVersionWithContext(ctx, kind.GroupVersion().String())
		if apierrors.IsNotFound(err) {
			list, err = &metav1.APIResourceList{}, nil
		}
		if err != nil {
			return Resource{}, err
		}
		c.known[kind.GroupVersion()] = list
	}
	for _, r := range list.APIResources {
		// Subresources such as deployments/scale have kinds of their own.
		if r.Kind == kind.Kind && !strings.Contains(r.Name, "/") {
			return Resource{kind.GroupVersion().WithResource(r.Name), r.Kind, r.Namespaced}, nil
		}
	}
	return Resource{}, fmt.Errorf("%w: %s", ErrNoKind, kind)
}

// Client returns the client for an object. It sets the given namespace on an object
// without one, if its kind has namespaces. The error wraps ErrNoKind if the cluster
// does not know the kind.
func (c *Cluster) Client(ctx context.Context, object *unstructured.Unstructured,
	namespace string) (dynamic.ResourceInterface, error) {
	resource, err := c.resource(ctx, object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	client := c.Objects.Resource(resource.GroupVersionResource)
	if !resource.Namespaced {
		object.SetNamespace("")
		return client, nil
	}
	object.SetNamespace(cmp.Or(object.GetNamespace(), namespace))
	return client.Namespace(object.GetNamespace()), nil
}

// DryRun applies an object as a dry run, and returns the result. manager names the
// caller.
func DryRun(ctx context.Context, client dynamic.ResourceInterface, object *unstructured.Unstructured,
	manager string) (*unstructured.Unstructured, error) {
	return client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{
		FieldManager: manager, Force: true, DryRun: []string{metav1.DryRunAll},
	})
}
