package updateplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	step := func(op, name string, inputs map[string]any) Step {
		return Step{Op: op, Type: "a:b:C", Name: name, URN: "urn::" + name, Inputs: inputs}
	}
	inputs := func(value any) map[string]any { return map[string]any{"list": []any{value, 1.0}, "name": "n"} }
	unknown := step("create", "new", inputs(Unknown))
	unknown.Unknown = []string{"list[0]"}
	planned := Project{Steps: []Step{
		unknown, step("create", "literal", inputs(Unknown)), step("update", "changed", inputs("x")), step("delete", "old", nil), step("same", "kept", inputs("x")),
	}}
	for _, test := range []struct {
		name  string
		later []Step
		want  []string
	}{
		{"as planned", planned.Steps, nil},
		{"what was not known, and less", []Step{step("create", "new", inputs("known")), step("same", "changed", inputs("y")), step("same", "kept", nil)}, nil},
		{"a value that only reads as if it was not known", []Step{step("create", "literal", inputs("y"))},
			[]string{`list[0] of a:b:C literal: planned [unknown], now "y"`}},
		{"another value", []Step{step("update", "changed", inputs("y"))}, []string{`list[0] of a:b:C changed: planned "x", now "y"`}},
		{"one value more", []Step{step("update", "changed", map[string]any{"list": []any{"x", 1.0}, "name": "n", "more": 1.0})},
			[]string{"more of a:b:C changed: planned nothing, now 1"}},
		{"one value less", []Step{step("update", "changed", map[string]any{"list": []any{"x", 1.0}})}, []string{`name of a:b:C changed: planned "n", now nothing`}},
		{"another value for one that was not known", []Step{step("create", "new", map[string]any{"name": "n", "acl": "public-read"})},
			[]string{`acl of a:b:C new: planned nothing, now "public-read"`, `list of a:b:C new: planned ["[unknown]",1], now nothing`}},
		{"a shorter list", []Step{step("update", "changed", map[string]any{"list": []any{"x"}, "name": "n"})}, []string{`list of a:b:C changed: planned ["x",1], now ["x"]`}},
		{"another kind of value", []Step{step("update", "changed", map[string]any{"list": "x", "name": "n"})}, []string{`list of a:b:C changed: planned ["x",1], now "x"`}},
		{"something else", []Step{step("replace", "changed", inputs("x")), step("update", "kept", inputs("x")), step("create", "more", nil)},
			[]string{"replace of a:b:C changed, not update", "update of a:b:C kept, not same", "create of a:b:C more is not in the plan"}},
		{"deleted twice", []Step{step("delete", "old", nil), step("delete", "old", nil)}, []string{"delete of a:b:C old is not in the plan"}},
	} {
		if diff := cmp.Diff(test.want, texts(planned.Differences(Project{Steps: test.later}))); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// texts returns differences as they are printed.
func texts(differences []Difference) []string {
	var texts []string
	for _, d := range differences {
		texts = append(texts, d.String())
	}
	return texts
}

// TestUnplannedInput: what the plan does not have is a difference, also beside a value
// that was not known or that was null.
func TestUnplannedInput(t *testing.T) {
	t.Parallel()
	for _, planned := range []map[string]any{{"tags": Unknown}, {"tags": nil}, {}, nil} {
		of := func(inputs map[string]any) Project {
			return Project{Steps: []Step{{Op: "create", Type: "a:b:C", Name: "c", URN: "u", Inputs: inputs, Unknown: []string{"tags"}}}}
		}
		got := texts(of(planned).Differences(of(map[string]any{"acl": "public-read"})))
		if diff := cmp.Diff([]string{`acl of a:b:C c: planned nothing, now "public-read"`}, got); planned != nil && diff != "" {
			t.Errorf("%v: %s", planned, diff)
		}
		if len(got) == 0 {
			t.Errorf("%v: no difference", planned)
		}
	}
}

// TestTwoStepsOfOneResource: the deletion of what was replaced before does not hide the update.
func TestTwoStepsOfOneResource(t *testing.T) {
	t.Parallel()
	project := Project{Steps: []Step{{Op: "update", URN: "u", Inputs: map[string]any{"a": 1.0}}, {Op: "delete", URN: "u"}}}
	if got := project.Differences(project); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// TestDifferencesHideSecrets: a value that was secret and is not any more may be the
// same value.
func TestDifferencesHideSecrets(t *testing.T) {
	t.Parallel()
	of := func(value any) Project {
		return Project{Steps: []Step{{Op: "create", Type: "a:b:C", Name: "c", URN: "u", Inputs: map[string]any{"p": value}}}}
	}
	for _, test := range []struct {
		planned, now any
		want         string
	}{
		{event.Masked, "hunter2", "p of a:b:C c: planned [secret], now a value that is not secret"},
		{"hunter2", event.Masked, "p of a:b:C c: planned a value that is not secret, now [secret]"},
		{map[string]any{"x": "hunter2"}, event.Masked, "p of a:b:C c: planned a value that is not secret, now [secret]"},
	} {
		if diff := cmp.Diff([]string{test.want}, texts(of(test.planned).Differences(of(test.now)))); diff != "" {
			t.Error(diff)
		}
	}
}
