package stacks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Adopt takes resources into the state of a project whose creation was cut off,
// and which exist: their ids come by URN. An empty id forgets the creation. A
// refresh must follow, which reads what they are really like. (Pulumi's own way, a refresh with
// --import-pending-creates, only marks them; the next up creates them anew.)
func (e *Environment) Adopt(ctx context.Context, project string, ids map[string]string) error {
	content, err := e.Export(ctx, project)
	if err != nil {
		return err
	}
	adopted, err := adopt(content, ids)
	if err != nil {
		return fmt.Errorf("adopting resources of %s: %w", project, err)
	}
	dir, err := e.workingCopy(project)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "adopted.json")
	if err := os.WriteFile(file, adopted, 0o600); err != nil {
		return fmt.Errorf("adopting resources of %s: %w", project, err)
	}
	if _, err := e.run(ctx, dir, "stack", "import", "--file", file, "--stack", e.qualified(project)); err != nil {
		return fmt.Errorf("adopting resources of %s: %w", project, err)
	}
	return nil
}

// adopt moves creations that were cut off to the resources of an exported
// state. All else stays as it is, to the last digit.
func adopt(exported []byte, ids map[string]string) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(exported))
	decoder.UseNumber()
	var state map[string]any
	if err := decoder.Decode(&state); err != nil {
		return nil, err
	}
	deployment, _ := state["deployment"].(map[string]any)
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
