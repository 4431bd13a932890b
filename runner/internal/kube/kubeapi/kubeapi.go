// Package kubeapi reads objects of any kind from a cluster's API server, and applies
// them as a dry run. It changes nothing: its connections refuse to send a change that
// is not a dry run.
package kubeapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"mara/runner/internal/kube/kubeconfig"
)

// answerTime bounds one request for the kinds of the cluster.
const answerTime = 30 * time.Second

// Ask decodes the response for a path of the API.
type Ask func(ctx context.Context, path string, into any) error

// Cluster is a cluster's API server.
type Cluster struct {
	Objects dynamic.Interface
	kinds   *kinds
}

// New returns a cluster with these clients.
func New(objects dynamic.Interface, ask Ask) Cluster {
	return Cluster{Objects: objects, kinds: &kinds{ask: ask}}
}

// Connect makes clients of the cluster of a kubeconfig. env is added to the environment
// of a command in it that gets a token.
func Connect(content []byte, env map[string]string) (Cluster, error) {
	config, err := kubeconfig.Config(content, env)
	if err != nil {
		return Cluster{}, err
	}
	config.QPS, config.Burst = 100, 200 // a release may have two hundred objects
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return onlyDryRuns{next} })
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return Cluster{}, fmt.Errorf("connecting to the cluster: %w", err)
	}
	api, err := kubeconfig.Connect(content, env, answerTime)
	if err != nil {
		return Cluster{}, err
	}
	return New(objects, api.Get), nil
}

// onlyDryRuns refuses requests that would change something.
type onlyDryRuns struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (o onlyDryRuns) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && !slices.Equal(r.URL.Query()["dryRun"], []string{metav1.DryRunAll}) {
		return nil, fmt.Errorf("%s %s would change the cluster, and is not sent", r.Method, r.URL.Path)
	}
	return o.next.RoundTrip(r)
}

// Client returns the client for an object. It sets the given namespace on an object
// without one, if its kind has namespaces. The error wraps ErrNoKind if the cluster
// does not know the kind.
func (c Cluster) Client(
	ctx context.Context, object *unstructured.Unstructured, namespace string,
) (dynamic.ResourceInterface, error) {
	kind, err := c.kinds.of(ctx, object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if !kind.namespaced {
		object.SetNamespace("")
		return c.Objects.Resource(kind.resource), nil
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(namespace)
	}
	return c.Objects.Resource(kind.resource).Namespace(object.GetNamespace()), nil
}

// DryRun applies an object as a dry run, and returns the result. manager names the
// caller.
func DryRun(
	ctx context.Context, client dynamic.ResourceInterface, object *unstructured.Unstructured, manager string,
) (*unstructured.Unstructured, error) {
	return client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{
		FieldManager: manager, Force: true, DryRun: []string{metav1.DryRunAll},
	})
}
