package operate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
)

// TestResourcesOfBars: what is known best decides.
func TestResourcesOfBars(t *testing.T) {
	t.Parallel()
	preview := event.Summary{Steps: []event.Step{
		{
			Project: event.Project{Name: "shown"}, Result: event.Succeeded,
			Changes: event.Changes{Create: 1, Delete: 2, Same: 3},
		},
		{
			Project: event.Project{Name: "partial"}, Result: event.Succeeded, Changes: event.Changes{Create: 7},
			Unknown: []string{"shown"},
		},
		{
			Project: event.Project{Name: "only-partial"}, Result: event.Succeeded, Changes: event.Changes{Create: 8},
			Unknown: []string{"shown"},
		},
		{Project: event.Project{Name: "failed"}, Result: event.Failed, Changes: event.Changes{Create: 9}},
	}}
	var p plan.Plan
	for _, name := range []string{"shown", "partial", "only-partial", "failed", "run", "state", "new"} {
		p.Steps = append(p.Steps, plan.Step{Project: model.Project{Name: name}})
	}
	last := map[string]int{"shown": 20, "partial": 21, "failed": 22, "run": 23, "elsewhere": 24}
	state := map[string]int{"shown": 30, "only-partial": 31, "run": 32, "state": 33}
	got := expectedResources(p, preview, last, func(project string) int { return state[project] })
	want := map[string]int{"shown": 6, "partial": 21, "only-partial": 8, "failed": 22, "run": 23, "state": 33}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
