package simulated

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"mara/config/files"
	"mara/projects/model/cloud"
	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/kubeconfig"
	"mara/runner/internal/kube/manifest"
	"mara/runner/internal/machine/failure"
)

// connectCluster returns an admission that asks a real cluster about simulated objects.
func (o Options) connectCluster(ctx context.Context) (simulate.Admission, error) {
	file := o.Flags.Cluster
	if !filepath.IsAbs(file) {
		file = filepath.Join(o.Dir, file)
	}
	content, err := files.Read(file, files.Text)
	if err != nil {
		text := fmt.Sprintf("--simulate-cluster: %v", err)
		return nil, &failure.Environment{Text: text, Next: "name a file with a kubeconfig"}
	}
	o.Masker.Add(kubeconfig.Secrets(content)...)
	if err := kubeconfig.Probe(ctx, content, o.Env); err != nil {
		return nil, &failure.Environment{Text: fmt.Sprintf("--simulate-cluster: the cluster does not answer: %v", err)}
	}
	cluster, err := kubeapi.Connect(content, o.Env)
	if err != nil {
		return nil, err
	}
	charts := mirror.NewNetwork(cloud.Proxy(o.Env), o.Charts)
	o.OnClose(charts.Close)
	checker := checker{cluster: cluster, charts: charts, warn: o.Warn}
	return func(ctx context.Context, object simulate.Object, _ bool) error {
		return checker.check(ctx, object.URN.Project().String(), object.Token, object.Inputs())
	}, nil
}

// manager names the dry runs in the API server's log.
const manager = "mara-simulation"

// kubernetes is the prefix of the types of Kubernetes resources.
const kubernetes = "kubernetes:"

// checker validates simulated objects against a real cluster. Every Kubernetes object that
// the simulation would create, also in a Helm release, is sent there as a server-side dry
// run, so that schemas, admission and quotas are the cluster's own. Nothing is created.
//
// The cluster lacks the objects that the simulation has created before. Objects in a missing
// namespace are checked in "default". Objects of a kind that only the simulation has defined
// cannot be checked. It warns about both.
type checker struct {
	cluster *kubeapi.Cluster
	charts  mirror.Fetcher
	warn    func(text string) // reports what could not be checked, each text once

	clusters mirror.Clusters // that the programs declare

	noted sync.Map // texts
}

// check checks a resource of a program, by its type and its inputs.
func (c *checker) check(ctx context.Context, project, token string, inputs map[string]any) error {
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
func (c *checker) checkRelease(ctx context.Context, release mirror.Release) error {
	chart := release.Source()
	archive, err := c.charts.Fetch(ctx, chart)
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
func (c *checker) checkObject(ctx context.Context, object *unstructured.Unstructured, namespace string) error {
	client, err := c.cluster.Client(ctx, object, namespace)
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
		if client, err = c.cluster.Client(ctx, object, "default"); err == nil {
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

func (c *checker) note(text string) {
	if _, isKnown := c.noted.LoadOrStore(text, true); !isKnown {
		c.warn(text)
	}
}
