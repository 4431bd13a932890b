package stacks

import (
	"context"
	"encoding/json"
	"slices"
)

// VolumeSizes returns the sizes of the volumes that the StatefulSets and Helm releases in a project's state claim.
func (e *Set) VolumeSizes(ctx context.Context, project string) ([]string, error) {
	content, err := e.rawState(ctx, project)
	if err != nil || len(content) == 0 {
		return nil, err
	}
	sizes, err := VolumeSizesIn(content)
	return sizes, wrapState(project, err)
}

// VolumeSizesIn returns the sizes of the volumes that a state claims.
func VolumeSizesIn(state json.RawMessage) ([]string, error) {
	var claiming struct {
		Resources []struct {
			Type   string         `json:"type"`
			Inputs map[string]any `json:"inputs"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(state, &claiming); err != nil {
		return nil, err
	}
	var sizes []string
	for _, r := range claiming.Resources {
		if r.Type == releaseType || r.Type == "kubernetes:apps/v1:StatefulSet" {
			sizes = append(sizes, claimedIn(r.Inputs)...)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}

// claimedIn finds what manifests and the values of charts claim: `requests: {storage: 5Gi}` and
// `persistence: {size: 5Gi}`.
func claimedIn(value any) (sizes []string) {
	switch typed := value.(type) {
	case []any:
		for _, item := range typed {
			sizes = append(sizes, claimedIn(item)...)
		}
	case map[string]any:
		for key, item := range typed {
			sizes = append(sizes, claimedIn(item)...)
			fields, _ := item.(map[string]any)
			size, _ := fields[map[string]string{"requests": "storage", "persistence": "size"}[key]].(string)
			if size != "" {
				sizes = append(sizes, size)
			}
		}
	}
	return sizes
}
