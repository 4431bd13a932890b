package stacks

import (
	"context"
	"encoding/json"
	"errors"

	"mara/runner/internal/machine/exactjson"
)

// Adopt adds to a project's state resources that exist although their creation
// was cut off. ids maps URNs to ids; an empty id drops the creation. A refresh
// must follow, which reads the properties. Pulumi's own way, a refresh with
// --import-pending-creates, only marks the resources: the next up creates them
// again.
func (e *Set) Adopt(ctx context.Context, project string, ids map[string]string) error {
	return e.rewrite(ctx, project, "adopting resources of "+project, func(exported []byte) ([]byte, error) {
		return adopt(exported, ids)
	})
}

// adopt moves creations that were cut off to the resources of an exported state
// and leaves the rest as it is, to the last digit.
func adopt(exported []byte, ids map[string]string) ([]byte, error) {
	var state map[string]any
	if err := exactjson.Decode(exported, &state); err != nil {
		return nil, err
	}
	deployment, ok := state["deployment"].(map[string]any)
	if !ok {
		return nil, errors.New("the exported state has no deployment")
	}
	pending, _ := deployment["pending_operations"].([]any)
	resources, _ := deployment["resources"].([]any)
	var rest []any
	for _, entry := range pending {
		operation, _ := entry.(map[string]any)
		resource, _ := operation["resource"].(map[string]any)
		urn, _ := resource["urn"].(string)
		id, wanted := ids[urn]
		if !wanted || operation["type"] != "creating" {
			rest = append(rest, entry)
			continue
		}
		if id == "" {
			continue
		}
		resource["id"] = id
		resources = append(resources, resource)
	}
	deployment["pending_operations"], deployment["resources"] = rest, resources
	return json.Marshal(state)
}
