// Package dryrun validates simulated objects against a real cluster. Every
// Kubernetes object that the simulation would create, also in a Helm release, is
// sent there as a server-side dry run, so that schemas, admission and quotas are
// the cluster's own. Nothing is created.
//
// The cluster lacks the objects that the simulation has created before. Objects in
// a missing namespace are checked in "default". Objects of a kind that only the
// simulation has defined cannot be checked. Note reports both.
package dryrun

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/manifest"
	"mara/runner/internal/kube/mirror"
)

// manager names the dry runs in the API server's log.
const manager = "mara-simulation"

// kubernetes is the prefix of the types of Kubernetes resources.
const kubernetes = "kubernetes:"

// Checker checks resources with dry runs.
type Checker struct {
	Cluster *kubeapi.Cluster
	Charts  mirror.Fetcher
	Note    func(text string) // reports what could not be checked, each text once

	clusters mirror.Clusters // that the programs declare

	mu    sync.Mutex // protects noted
	noted map[string]bool
}

// Check checks a resource of a program, by its type and its inputs.
func (c *Checker) Check(ctx context.Context, project, token string, inputs map[string]any) error {
	c.clusters.Saw(project, token, inputs)
	switch {
	case !strings.HasPrefix(token, kubernetes) || strings.HasSuffix(token, "Patch"):
		return nil
	case token == mirror.ReleaseToken:
		return c.checkRelease(ctx, mirror.ReleaseOf(project, inputs))
	case strings.HasPrefix(token, kubernetes+"helm.sh/"):
		c.note("not checked: " + token)
		return nil
	}
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(manifest.Of(token, inputs))}
	return c.checkObject(ctx, object, "default")
}

// checkRelease checks the objects of a Helm release and joins their errors.
func (c *Checker) checkRelease(ctx context.Context, release mirror.Release) error {
	chart := release.Source()
	archive, err := c.Charts.Fetch(ctx, chart)
	if err != nil {
		c.note(fmt.Sprintf("release %s is not checked: %v", release.Name, err))
		return nil
	}
	objects, err := mirror.Render(archive, release, c.clusters.Kubernetes())
	if err != nil {
		return err
	}
	own := definitionsIn(objects)
	var problems []error
	for _, object := range objects {
		if own[object.Text("kind")] {
			continue // the release defines the kind itself
		}
		problems = append(problems, c.checkObject(ctx, &unstructured.Unstructured{Object: object}, release.Namespace))
	}
	return errors.Join(problems...)
}

// definitionsIn returns the kinds that objects define.
func definitionsIn(objects []manifest.Object) map[string]bool {
	kinds := map[string]bool{}
	for _, object := range objects {
		if object.Text("kind") == "CustomResourceDefinition" {
			kinds[object.Text("spec", "names", "kind")] = true
		}
	}
	return kinds
}

// checkObject checks one object.
func (c *Checker) checkObject(ctx context.Context, object *unstructured.Unstructured, namespace string) error {
	client, err := c.Cluster.Client(ctx, object, namespace)
	if errors.Is(err, kubeapi.ErrNoKind) && isCustom(object) {
		c.note(fmt.Sprintf("not checked: the cluster does not know %s of %s", object.GetKind(), object.GetAPIVersion()))
		return nil
	}
	if err != nil {
		return fmt.Errorf("the cluster: %w", err)
	}
	_, err = kubeapi.DryRun(ctx, client, object, manager)
	if missing := missingNamespace(err); missing != "" && missing == object.GetNamespace() {
		c.note(fmt.Sprintf(
			"the cluster has no namespace %s: its objects are checked in default, with its quotas and policies", missing))
		object.SetNamespace("default")
		if client, err = c.Cluster.Client(ctx, object, "default"); err == nil {
			_, err = kubeapi.DryRun(ctx, client, object, manager)
		}
	}
	switch {
	case err == nil:
		return nil
	case apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run"):
		c.note(fmt.Sprintf("not checked: %s %s: %v", object.GetKind(), object.GetName(), err))
		return nil
	}
	name := path.Join(object.GetNamespace(), object.GetName())
	return fmt.Errorf("the cluster refuses %s %s: %w", object.GetKind(), name, err)
}

// isCustom reports whether a custom resource definition may define the kind. The
// groups of Kubernetes itself have no dot, or end in .k8s.io.
func isCustom(object *unstructured.Unstructured) bool {
	group := object.GroupVersionKind().Group
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// missingNamespace returns the namespace that an API server did not find, or "" for
// other errors.
func missingNamespace(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return ""
	}
	if details := status.Status().Details; details != nil && details.Kind == "namespaces" {
		return details.Name
	}
	return ""
}

func (c *Checker) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noted[text] {
		return
	}
	if c.noted == nil {
		c.noted = map[string]bool{}
	}
	c.noted[text] = true
	c.Note(text)
}
