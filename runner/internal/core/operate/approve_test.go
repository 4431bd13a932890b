package operate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
)

func TestRules(t *testing.T) {
	t.Parallel()
	none, err := stacks.Open(t.Context(), stacks.Options{Empty: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &session.Reading{Stacks: none}
	preview := event.Summary{Steps: []event.Step{
		{Project: event.Project{Name: "same"}},
		{Project: event.Project{Name: "new"}, Changes: event.Changes{Create: 3, Update: 1}},
		{Project: event.Project{Name: "partial, never deployed"}, Unknown: []string{"new"}},
		{Project: event.Project{Name: "replaced"}, Changes: event.Changes{Replace: 1}},
		{Project: event.Project{Name: "deleted"}, Changes: event.Changes{Delete: 1}},
	}}
	for r, want := range map[Rule][]string{
		NoDeletes:  {"replaced", "deleted"},
		NoReplaces: {"replaced"},
	} {
		if diff := cmp.Diff(want, r.broken(s, preview)); diff != "" {
			t.Errorf("%s:\n%s", r, diff)
		}
	}
}

// TestJudges: an up --yes previews first where anything may forbid it, so that no project
// is deployed before a later one is refused.
func TestJudges(t *testing.T) {
	t.Parallel()
	limit := 0.0
	for name, test := range map[string]struct {
		op     operation.Operation
		guards Guards
		want   bool
	}{
		"nothing":              {operation.Up, Guards{}, false},
		"a limit of costs":     {operation.Up, Guards{Limits: guard.Limits{MaxMonthly: &limit}}, true},
		"a policy pack":        {operation.Up, Guards{Packs: []string{"pack"}}, true},
		"a preview with packs": {operation.Preview, Guards{Packs: []string{"pack"}}, false},
	} {
		r := Request{Guards: test.guards}
		r.Operation = test.op
		if got := r.judges(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
