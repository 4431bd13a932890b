package updateplan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"mara/runner/internal/core/event"
)

func TestOutputChanges(t *testing.T) {
	t.Parallel()
	type outputs = map[string]any
	hidden := map[string]any{sig.Key: sig.Secret, "ciphertext": "[secret]"}
	mask := func(text string) string { return strings.ReplaceAll(text, "needle", "[secret]") }
	for _, test := range []struct {
		name          string
		before, after outputs
		hidden        []string // secret outputs that differ
		want          []event.OutputChange
	}{
		{"the same", outputs{"a": 1.0, "b": outputs{"c": "d"}}, outputs{"a": 1.0, "b": outputs{"c": "d"}}, []string{"a"}, nil},
		{"another value", outputs{"a": "x", "b": 1.0}, outputs{"a": "y", "b": 1.0}, nil,
			[]event.OutputChange{{Name: "a", Action: event.Update, Before: "x", After: "y"}}},
		{"renamed", outputs{"domain": "x"}, outputs{"dns": "x"}, nil,
			[]event.OutputChange{{Name: "dns", Action: event.Create, After: "x"}, {Name: "domain", Action: event.Delete, Before: "x"}}},
		{"new stack", nil, outputs{"a": outputs{"b": []any{"needle!"}}}, nil,
			[]event.OutputChange{{Name: "a", Action: event.Create, After: outputs{"b": []any{"[secret]!"}}}}},
		{"not known yet", outputs{"a": "x"}, outputs{"a": unknownValue}, nil,
			[]event.OutputChange{{Name: "a", Action: event.Update, Before: "x", After: event.Unknown}}},
		{"secret, the same as far as the engine shows it", outputs{"s": hidden}, outputs{"s": hidden}, nil, nil},
		{"secret, and it differs", outputs{"s": outputs{"in": hidden}}, outputs{"s": outputs{"in": hidden}}, []string{"s"},
			[]event.OutputChange{{Name: "s", Action: event.Update, Before: outputs{"in": "[secret]"}, After: outputs{"in": "[secret]"}}}},
		{"secret from now on", outputs{"s": "x"}, outputs{"s": hidden}, nil,
			[]event.OutputChange{{Name: "s", Action: event.Update, Before: "x", After: "[secret]"}}},
	} {
		differs := func(name string) bool { return strings.Contains(strings.Join(test.hidden, " "), name) }
		if diff := cmp.Diff(test.want, OutputChanges(test.before, test.after, differs, mask)); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

func TestOutputDifferences(t *testing.T) {
	t.Parallel()
	change := func(name string, after any) event.OutputChange {
		return event.OutputChange{Name: name, Action: event.Update, Before: "a", After: after}
	}
	planned := Project{Outputs: []event.OutputChange{change("domain", "b"), change("id", Unknown)}}
	for _, test := range []struct {
		name    string
		planned Project
		later   []event.OutputChange
		want    []string
	}{
		{"as planned, and known by now", planned, []event.OutputChange{change("domain", "b"), change("id", "i-1")}, nil},
		{"less", planned, nil, nil},
		{"another value", planned, []event.OutputChange{change("domain", "c")},
			[]string{`value of output domain: planned "b", now "c"`}},
		{"removed", planned, []event.OutputChange{{Name: "domain", Action: event.Delete, Before: "a"}},
			[]string{`another change of output domain: - domain: "a", not ~ domain: "a" => "b"`}},
		{"one more", planned, []event.OutputChange{change("range", "r")}, []string{`the change of output range is not in the plan: ~ range: "a" => "r"`}},
	} {
		if diff := cmp.Diff(test.want, texts(test.planned.Differences(Project{Outputs: test.later}))); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}
