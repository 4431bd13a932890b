package stacks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"mara/runner/internal/event"
	"mara/runner/internal/updateplan"
)

// Previewed is what the last preview of a project has found, if the task said to
// record it.
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

// StateDigest is a digest of the resources in a project's state, "" if there are
// none.
func (e *Set) StateDigest(ctx context.Context, project string) (string, error) {
	state, err := e.state(ctx, project)
	if err != nil || len(state.Resources) == 0 {
		return "", err
	}
	content, err := json.Marshal(state.Resources)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:16]), nil
}
