package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/session"
	"mara/runner/internal/kube/live"
	"mara/runner/internal/kube/manifest"
)

// checkLive asks the cluster of the environment about all objects that the states list.
func (s *environmentStatus) checkLive(ctx context.Context, at *session.Resolved, o options) error {
	kubeconfig, err := cmd.OpenCluster(ctx, at)
	if err != nil {
		return err
	}
	states, err := inventory.OfEnvironment(ctx, at)
	if err != nil {
		return err
	}
	wanted := map[string][]live.Object{}
	for project, state := range states {
		items, err := query.FromState(query.Environment{Stack: s.Stack, Provider: s.Provider}, project, state)
		if err != nil {
			return err
		}
		if objects := objectsOf(items); len(objects) > 0 {
			wanted[project] = objects
		}
	}
	health, err := live.Check(ctx, live.Options{Kubeconfig: kubeconfig, Env: at.Env, Timeout: o.Timeout}, wanted)
	if err != nil {
		return fmt.Errorf("the cluster of %s: %w", s.Stack, err)
	}
	for i, p := range s.Projects {
		if found, ok := health[p.Project]; ok {
			s.Projects[i].Live = &found
		}
	}
	return s.checkApplications(ctx, at, kubeconfig, states)
}

// objectsOf returns the Kubernetes objects in the items of a state, and the objects of its Helm releases.
func objectsOf(items []any) []live.Object {
	var objects []live.Object
	for _, item := range items {
		fields, _ := item.(map[string]any)
		if outputs, _ := fields["outputs"].(map[string]any); fields["type"] == "kubernetes:helm.sh/v3:Release" {
			objects = append(objects, objectsOfRelease(outputs)...)
			continue
		}
		of := manifest.Object(fields)
		group, err := schema.ParseGroupVersion(of.Text("object", "apiVersion"))
		if kind := of.Text("object", "kind"); err == nil && kind != "" {
			kind = group.WithKind(kind).GroupKind().String()
			objects = append(objects, live.Object{Kind: kind, Namespace: of.Text("namespace"), Name: of.Text("name")})
		}
	}
	return objects
}

// objectsOfRelease returns the objects that a Helm release has made. Pulumi records their names, as namespace/name or
// name, by kind and version, as in Deployment.apps/apps/v1.
func objectsOfRelease(outputs map[string]any) []live.Object {
	var objects []live.Object
	byKind, _ := outputs["resourceNames"].(map[string]any)
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		names, _ := byKind[kind].([]any)
		for _, entry := range names {
			text, _ := entry.(string)
			namespace, name, namespaced := strings.Cut(text, "/")
			if !namespaced {
				namespace, name = "", text
			}
			kind, _, _ := strings.Cut(kind, "/")
			objects = append(objects, live.Object{Kind: kind, Namespace: namespace, Name: name})
		}
	}
	return objects
}
