package stacks

import (
	"context"
	"encoding/json"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/updateplan"
)

// Previewed returns the findings of the last preview of a project, if the task
// asked to record them.
func (e *Set) Previewed(project string) (updateplan.Project, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	preview, ok := e.previews[project]
	return preview, ok
}

// keepPreview keeps what a preview has found.
func (w work) keepPreview(unknown []string, outputs []event.OutputChange) {
	if !w.Record {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.previews[w.project] = updateplan.Project{
		Name: w.project, Title: w.Step.Project.Title, Steps: append([]updateplan.Step{}, w.engine.steps...), Unknown: unknown,
		Outputs: append([]event.OutputChange{}, outputs...),
	}
}

// StateDigest returns a digest of the resources in a project's state, with everything
// that an operation depends on: inputs, outputs, protection and other options. It is ""
// if there are none.
func (e *Set) StateDigest(ctx context.Context, project string) (string, error) {
	content, err := e.rawState(ctx, project)
	if err != nil || len(content) == 0 {
		return "", err
	}
	digest, err := digestOfResources(content)
	return digest, wrapState(project, err)
}

func digestOfResources(state []byte) (string, error) {
	var all struct {
		Resources []map[string]any `json:"resources"`
	}
	if err := json.Unmarshal(state, &all); err != nil || len(all.Resources) == 0 {
		return "", err
	}
	for _, resource := range all.Resources {
		for _, name := range incidental {
			delete(resource, name)
		}
	}
	content, err := json.Marshal(all.Resources) // sorts keys
	if err != nil {
		return "", err
	}
	return fingerprint.Digest(content), nil
}

// incidental are fields of a resource in a state on which nothing depends.
var incidental = []string{"created", "modified", "sourcePosition", "stackTrace"}
