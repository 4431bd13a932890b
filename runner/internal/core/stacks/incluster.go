package stacks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/runner/internal/machine/exactjson"
)

// Holding is what a project has in a cluster.
type Holding struct {
	Objects  int // resources, Helm releases among them
	Releases int // Helm releases; the state does not say what is in them
	Volumes  int // claims, volumes, and StatefulSets, which make claims
	// Protected are the resources among them that Pulumi refuses to delete.
	Protected []string
}

// volumeTypes are the types of resources in a cluster that keep data.
var volumeTypes = []string{
	"kubernetes:core/v1:PersistentVolume", "kubernetes:core/v1:PersistentVolumeClaim", "kubernetes:apps/v1:StatefulSet",
}

// InCluster reads and changes what the states of an environment say about its cluster.
type InCluster struct{ Set *Set }

// Holding returns what a project has in its cluster, by its state.
func (c InCluster) Holding(ctx context.Context, project string) (Holding, error) {
	var found Holding
	state, err := c.Set.state(ctx, project)
	if err != nil {
		return found, err
	}
	for _, r := range state.Resources {
		if !isInCluster(r.Type) || r.External || r.ID == "" {
			continue
		}
		found.Objects++
		if r.Type == releaseType {
			found.Releases++
		}
		if slices.Contains(volumeTypes, r.Type) {
			found.Volumes++
		}
		if r.Protected {
			found.Protected = append(found.Protected, resourceOf(r.URN).String())
		}
	}
	return found, nil
}

// targets returns the URNs of the resources that a destroy is limited to.
func (w work) targets(ctx context.Context) ([]string, error) {
	if !w.InCluster {
		return nil, nil
	}
	state, err := w.state(ctx, w.project)
	if err != nil {
		return nil, err
	}
	var urns []string
	for _, r := range state.Resources {
		if isInCluster(r.Type) && !r.External {
			urns = append(urns, r.URN)
		}
	}
	return urns, nil
}

// Forget drops everything that is in a cluster from the state of a project, without asking the cluster, which is gone.
// What exists elsewhere stays, even where it was made of what is dropped.
func (c InCluster) Forget(ctx context.Context, project string) error {
	doing := fmt.Sprintf("dropping from the state of %s what was in the cluster", project)
	return c.Set.rewrite(ctx, project, doing, withoutCluster)
}

// withoutCluster returns an exported state without the resources in a cluster, and without the providers that lead to
// it. It leaves the rest as it is, to the last digit, but for its references to what is dropped.
func withoutCluster(exported []byte) ([]byte, error) {
	var state map[string]any
	if err := exactjson.Decode(exported, &state); err != nil {
		return nil, err
	}
	deployment, _ := state["deployment"].(map[string]any)
	dropped := map[string]bool{}
	resources, _ := deployment["resources"].([]any)
	deployment["resources"] = slices.DeleteFunc(resources, func(entry any) bool {
		resource, _ := entry.(map[string]any)
		token, _ := resource["type"].(string)
		urn, _ := resource["urn"].(string)
		goes := isInCluster(token) || token == providerType+"kubernetes"
		if goes {
			dropped[urn] = true
		}
		return goes
	})
	for _, entry := range resources {
		if resource, ok := entry.(map[string]any); ok {
			dropReferences(resource, dropped)
		}
	}
	pending, _ := deployment["pending_operations"].([]any)
	if len(pending) > 0 {
		deployment["pending_operations"] = slices.DeleteFunc(pending, func(entry any) bool {
			operation, _ := entry.(map[string]any)
			resource, _ := operation["resource"].(map[string]any)
			token, _ := resource["type"].(string)
			return isInCluster(token)
		})
	}
	return json.Marshal(state)
}

// dropReferences removes the references of a resource to others that are dropped.
func dropReferences(resource map[string]any, dropped map[string]bool) {
	isDropped := func(urn any) bool { text, _ := urn.(string); return dropped[text] }
	withoutThem := func(urns any) any {
		list, _ := urns.([]any)
		return slices.DeleteFunc(list, isDropped)
	}
	if urns, ok := resource["dependencies"]; ok {
		resource["dependencies"] = withoutThem(urns)
	}
	if byProperty, ok := resource["propertyDependencies"].(map[string]any); ok {
		for _, name := range slices.Collect(maps.Keys(byProperty)) {
			byProperty[name] = withoutThem(byProperty[name])
		}
	}
	for _, name := range []string{"parent", "deletedWith"} {
		if isDropped(resource[name]) {
			delete(resource, name)
		}
	}
	if provider, ok := resource["provider"].(string); ok { // URN::ID
		if at := strings.LastIndex(provider, "::"); at >= 0 && dropped[provider[:at]] {
			delete(resource, "provider")
		}
	}
}
