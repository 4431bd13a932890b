package stacks

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// Volume is a volume that a StatefulSet or a Helm release claims.
type Volume struct{ Size, Class string }

// Volumes returns the volumes that the StatefulSets and Helm releases in a project's state claim.
func (e *Set) Volumes(ctx context.Context, project string) ([]Volume, error) {
	content, err := e.rawState(ctx, project)
	if err != nil || len(content) == 0 {
		return nil, err
	}
	found, err := VolumesIn(content)
	return found, wrapState(project, err)
}

// VolumesIn returns the volumes that a state claims, each kind once.
func VolumesIn(state json.RawMessage) ([]Volume, error) {
	var claiming struct {
		Resources []struct {
			Type   string         `json:"type"`
			Inputs map[string]any `json:"inputs"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(state, &claiming); err != nil {
		return nil, err
	}
	var found []Volume
	for _, r := range claiming.Resources {
		if r.Type == releaseType || r.Type == "kubernetes:apps/v1:StatefulSet" {
			found = append(found, claimedIn(r.Inputs)...)
		}
	}
	slices.SortFunc(found, func(a, b Volume) int {
		return cmp.Or(strings.Compare(a.Size, b.Size), strings.Compare(a.Class, b.Class))
	})
	return slices.Compact(found), nil
}

// claimedIn finds what manifests and the values of charts claim: `resources: {requests: {storage: 5Gi}}` and
// `persistence: {size: 5Gi}`, both with a class or without.
func claimedIn(value any) (found []Volume) {
	text := func(value any) string { text, _ := value.(string); return text }
	switch typed := value.(type) {
	case []any:
		for _, item := range typed {
			found = append(found, claimedIn(item)...)
		}
	case map[string]any:
		for _, item := range typed {
			found = append(found, claimedIn(item)...)
		}
		resources, _ := typed["resources"].(map[string]any)
		requests, _ := resources["requests"].(map[string]any)
		if size := text(requests["storage"]); size != "" {
			found = append(found, Volume{size, text(typed["storageClassName"])})
		}
		persistence, _ := typed["persistence"].(map[string]any)
		if size := text(persistence["size"]); size != "" {
			found = append(found, Volume{size, cmp.Or(text(persistence["storageClass"]), text(persistence["storageClassName"]))})
		}
	}
	return found
}

// ObjectsIn returns the inputs of the Kubernetes objects and Helm releases in a state; those of an object are its manifest.
func ObjectsIn(state json.RawMessage) (objects []map[string]any, err error) {
	var having struct {
		Resources []struct {
			Type   string         `json:"type"`
			Inputs map[string]any `json:"inputs"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(state, &having); err != nil {
		return nil, err
	}
	for _, r := range having.Resources {
		if !strings.HasPrefix(r.Type, "kubernetes:") || r.Inputs == nil {
			continue
		}
		if r.Type == releaseType {
			r.Inputs["kind"] = "Release"
		}
		objects = append(objects, r.Inputs)
	}
	return objects, nil
}
