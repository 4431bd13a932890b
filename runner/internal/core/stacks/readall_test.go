package stacks

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
)

// TestReadAll: stacks are grouped by environment, whatever their names are, and
// only wanted stacks are exported, by their own names.
func TestReadAll(t *testing.T) {
	t.Parallel()
	listed := `[
		{"name": "organization/net/net-dev", "resourceCount": 1}, {"name": "organization/net/dev", "resourceCount": 1},
		{"name": "organization/shop/dev", "resourceCount": 2}, {"name": "organization/foreign/dev", "resourceCount": 3}]`
	export := func(stack, state string) call {
		return call{args: "stack export --stack organization/" + stack, stdout: `{"deployment": ` + state + `}`}
	}
	options := Options{
		Organization: "organization", WorkDir: t.TempDir(), Names: model.StackNames{"net": "net-{stack}"},
		Command: newFake(t, call{args: "stack ls --all --json", stdout: listed}, export("net/net-dev", `{"a":1}`)),
	}
	var offered []string
	states, err := ReadAll(t.Context(), options, func(environment string, projects []string) []string {
		offered = append(offered, environment)
		offered = append(offered, projects...)
		return []string{"net"}
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(offered)
	if diff := cmp.Diff([]string{"dev", "foreign", "net", "shop"}, offered); diff != "" {
		t.Errorf("offered: %s", diff)
	}
	if diff := cmp.Diff(map[string]map[string]json.RawMessage{"dev": {"net": json.RawMessage(`{"a":1}`)}}, states); diff != "" {
		t.Error(diff)
	}
}
