// Package live reads the objects in a cluster, as they are now. It only reads,
// and never asks for the values of Secrets.
package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/pager"

	"mara/config/lists"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/parallel"
)

// Options choose objects.
type Options struct {
	Kubeconfig []byte
	Env        map[string]string // for a command in the kubeconfig that gets a token
	Kinds      []string          // resources such as "deployments.apps", or kinds such as "Deployment.apps"; none for all
	Namespace  string            // "" for all
	Selector   string            // of labels
	Timeout    time.Duration     // for all of it
	relist     time.Duration     // between two lists of a watched resource; 0 for the usual
}

// atOnce is how many resources are listed at once.
const atOnce = 8

// List returns the objects as JSON.
func List(ctx context.Context, o Options) ([][]byte, error) {
	_, listed, err := open(ctx, o)
	return join(listed), err
}

// list has the objects of one resource.
type list struct {
	objects [][]byte
	version string // from which watches continue
}

func join(listed []list) [][]byte {
	return slices.Concat(lists.Map(listed, func(l list) [][]byte { return l.objects })...)
}

// open connects to the cluster and lists the chosen objects of each resource, in the time allowed.
func open(ctx context.Context, o Options) (cluster, []list, error) {
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("the cluster has not answered for %s", o.Timeout))
		defer cancel()
	}
	c, err := connect(ctx, o)
	var listed []list
	if err == nil {
		listed, err = parallel.Limited(ctx, atOnce, c.resources, c.list)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return c, listed, err
}

// cluster is a cluster's API server, with the resources that options choose.
type cluster struct {
	*kubeapi.Cluster
	options   Options
	resources []kubeapi.Resource
}

func connect(ctx context.Context, o Options) (c cluster, err error) {
	c.options = o
	if c.Cluster, err = kubeapi.Connect(o.Kubeconfig, o.Env); err != nil {
		return c, err
	}
	all, err := c.Resources(ctx)
	c.resources = slices.DeleteFunc(all, func(r kubeapi.Resource) bool { return !o.choose(r) })
	return c, err
}

// choose reports whether the options want a resource. Events are only listed for
// whoever names them: they tell what happened, not what is.
func (o Options) choose(r kubeapi.Resource) bool {
	switch {
	case o.Namespace != "" && !r.Namespaced:
		return false
	case len(o.Kinds) == 0:
		return r.Resource != "events"
	}
	kind := schema.GroupKind{Group: r.Group, Kind: r.Kind}.String()
	return slices.Contains(o.Kinds, r.GroupResource().String()) || slices.Contains(o.Kinds, kind)
}

func isSecrets(r kubeapi.Resource) bool { return r.Group == "" && r.Resource == "secrets" }

// list reads the objects of one resource; of Secrets it reads only the metadata.
func (c cluster) list(ctx context.Context, r kubeapi.Resource) (found list, err error) {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		page, err := c.page(ctx, r, options)
		if list, ok := page.(metav1.ListInterface); ok && err == nil {
			found.version = cmp.Or(found.version, list.GetResourceVersion()) // the other pages have the version of the first
		}
		return page, err
	})
	err = pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: c.options.Selector},
		func(object runtime.Object) error {
			content, err := encode(object, r)
			found.objects = append(found.objects, content)
			return err
		})
	if err != nil {
		err = fmt.Errorf("listing %s: %w", r.GroupResource(), err)
	}
	return found, err
}

// encode returns an object as JSON, with its kind, which metadata alone does not have.
func encode(object runtime.Object, r kubeapi.Resource) ([]byte, error) {
	if secret, ok := object.(*metav1.PartialObjectMetadata); ok {
		secret.SetGroupVersionKind(r.GroupVersion().WithKind(r.Kind))
	}
	return json.Marshal(object)
}

func (c cluster) page(ctx context.Context, r kubeapi.Resource, o metav1.ListOptions) (runtime.Object, error) {
	if isSecrets(r) {
		return c.Metadata.Resource(r.GroupVersionResource).Namespace(c.options.Namespace).List(ctx, o)
	}
	return c.Objects.Resource(r.GroupVersionResource).Namespace(c.options.Namespace).List(ctx, o)
}
