// Package helmdrift finds what others have changed of the objects in a Helm
// release. The release's own record in the cluster says what Helm has installed.
// For each object, the API server is asked what a server-side apply of that would
// change, as a dry run: the server itself knows defaults and normal forms, and
// fields that the release does not set count for nothing. Nothing is changed.
package helmdrift

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"mara/runner/internal/kubeapi"
	"mara/runner/internal/manifest"
)

// fieldManager names the dry runs in the API server's log.
const fieldManager = "mara-drift"

// atOnce is how many objects are compared at the same time.
const atOnce = 8

// Difference is an object that is not as the release has it.
type Difference struct {
	Kind    string   // "Deployment"
	Name    string   // with its namespace, if it has one: "shop/web"
	Missing bool     // others have deleted it
	Fields  []string // that others have changed; never their values
	Unknown string   // why it cannot be compared; "" if it could be
}

// Compare compares the objects of a release with what is in the cluster. A
// release that is not there has none: that it is gone is not for here to say.
func Compare(ctx context.Context, c kubeapi.Cluster, namespace, name string) ([]Difference, error) {
	text, err := manifestOf(ctx, c, namespace, name)
	if err != nil {
		return nil, fmt.Errorf("release %s/%s: %w", namespace, name, err)
	}
	objects, err := manifest.Objects(text)
	if err != nil {
		return nil, fmt.Errorf("release %s/%s: %w", namespace, name, err)
	}
	found := make([]Difference, len(objects))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, object := range objects {
		group.Go(func() (err error) {
			found[i], err = compare(ctx, c, namespace, object)
			if err != nil {
				err = fmt.Errorf("release %s/%s: %s: %w", namespace, name, object, err)
			}
			return err
		})
	}
	err = group.Wait()
	found = slices.DeleteFunc(found, Difference.isNone)
	return found, err
}

func (d Difference) isNone() bool { return !d.Missing && len(d.Fields) == 0 && d.Unknown == "" }

// compare compares one object.
func compare(ctx context.Context, c kubeapi.Cluster, namespace string, object manifest.Object) (Difference, error) {
	wanted := &unstructured.Unstructured{Object: object}
	client, err := c.Client(ctx, wanted, namespace)
	if errors.Is(err, kubeapi.ErrNoKind) { // its definition is gone, and all objects with it
		return difference(wanted, Difference{Missing: true}), nil
	}
	if err != nil {
		return Difference{}, err
	}
	return compareWith(ctx, client, wanted)
}

// attempts is how often an object is compared that others keep changing.
const attempts = 5

// compareWith compares an object with what its client finds. Controllers change
// objects at any time. Where one did so between the look and the dry run, the two
// say nothing about each other, and both are made again.
func compareWith(ctx context.Context, client dynamic.ResourceInterface, wanted *unstructured.Unstructured) (Difference, error) {
	for attempt := 1; ; attempt++ {
		live, err := client.Get(ctx, wanted.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return difference(wanted, Difference{Missing: !goesByItself(wanted)}), nil
		}
		if err != nil {
			return Difference{}, err
		}
		applied, err := kubeapi.DryRun(ctx, client, wanted, fieldManager)
		if err != nil {
			found, err := refused(err)
			return difference(wanted, found), err
		}
		found := difference(wanted, Difference{Fields: changed(live.Object, applied.Object)})
		if found.isNone() || attempt == attempts || isStill(ctx, client, live) {
			return found, nil
		}
	}
}

// isStill reports whether an object is in the cluster as it was.
func isStill(ctx context.Context, client dynamic.ResourceInterface, was *unstructured.Unstructured) bool {
	is, err := client.Get(ctx, was.GetName(), metav1.GetOptions{})
	return err == nil && is.GetResourceVersion() == was.GetResourceVersion()
}

// difference names the object of a difference.
func difference(object *unstructured.Unstructured, found Difference) Difference {
	found.Kind, found.Name = object.GetKind(), strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
	return found
}

// goesByItself reports whether Kubernetes deletes an object when it is done.
func goesByItself(object *unstructured.Unstructured) bool {
	_, limited, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "ttlSecondsAfterFinished")
	return object.GetKind() == "Job" && limited
}

// refused is what the answer to a dry run says about an object: fields that
// cannot be changed back differ as well. That one object cannot be compared does
// not keep the others from it.
func refused(err error) (Difference, error) {
	var found Difference
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return found, err
	}
	if apierrors.IsInvalid(err) && status.Status().Details != nil {
		found.Fields = slice.Map(status.Status().Details.Causes, func(cause metav1.StatusCause) string { return cause.Field })
	}
	if len(found.Fields) == 0 {
		found.Unknown, _, _ = strings.Cut(err.Error(), "\n")
	}
	return found, nil
}

// secrets is the resource that Helm keeps its releases in.
var secrets = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
