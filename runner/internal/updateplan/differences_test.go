package updateplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	step := func(op, name string, inputs map[string]any) Step {
		return Step{Op: op, Type: "a:b:C", Name: name, URN: "urn::" + name, Inputs: inputs}
	}
	inputs := func(value any) map[string]any { return map[string]any{"list": []any{value, 1.0}, "name": "n"} }
	planned := Project{Steps: []Step{
		step("create", "new", inputs(Unknown)), step("update", "changed", inputs("x")), step("delete", "old", nil), step("same", "kept", inputs("x")),
	}}
	for _, test := range []struct {
		name  string
		later []Step
		want  []string
	}{
		{"as planned", planned.Steps, nil},
		{"what was not known, and less", []Step{step("create", "new", inputs("known")), step("same", "changed", inputs("y")), step("same", "kept", nil)}, nil},
		{"another value", []Step{step("update", "changed", inputs("y"))}, []string{"other values for a:b:C changed"}},
		{"one value more", []Step{step("update", "changed", map[string]any{"list": []any{"x", 1.0}, "name": "n", "more": 1.0})}, []string{"other values for a:b:C changed"}},
		{"a shorter list", []Step{step("update", "changed", map[string]any{"list": []any{"x"}, "name": "n"})}, []string{"other values for a:b:C changed"}},
		{"another kind of value", []Step{step("update", "changed", map[string]any{"list": "x", "name": "n"})}, []string{"other values for a:b:C changed"}},
		{"something else", []Step{step("replace", "changed", inputs("x")), step("update", "kept", inputs("x")), step("create", "more", nil)},
			[]string{"replace of a:b:C changed, not update", "update of a:b:C kept, not same", "create of a:b:C more is not in the plan"}},
	} {
		if diff := cmp.Diff(test.want, planned.Differences(Project{Steps: test.later})); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
