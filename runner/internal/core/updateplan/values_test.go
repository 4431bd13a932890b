package updateplan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config/lists"
	"mara/runner/internal/core/event"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	type l = []any
	long := strings.Repeat("x", 5000)
	for name, test := range map[string]struct {
		before, after m
		step          Step
		want          []string
	}{
		"nothing":       {m{"a": 1.0}, m{"a": 1.0}, Step{}, nil},
		"defaults":      {m{"__defaults": l{"a"}}, m{"__defaults": l{}}, Step{}, nil},
		"a number":      {m{"a": m{"b": 1.0}}, m{"a": m{"b": 2.0}}, Step{}, []string{"a.b: 1 => 2"}},
		"another type":  {m{"a": "1"}, m{"a": 1.0}, Step{}, []string{`a: "1" => 1`}},
		"more and less": {m{"a": "x"}, m{"b": "y"}, Step{}, []string{`a: - "x"`, `b: + "y"`}},
		"by place":      {m{"l": l{"a", "b"}}, m{"l": l{"a", "c"}}, Step{}, []string{`l[1]: "b" => "c"`}},
		"an element":    {m{"l": l{"a", "b"}}, m{"l": l{"new", "a", "b"}}, Step{}, []string{`l[]: + "new"`}},
		"twice":         {m{"l": l{"a", "a"}}, m{"l": l{"a"}}, Step{}, []string{`l[]: - "a"`}},
		"JSON":          {m{"p": `{"n":1,"x":2}`}, m{"p": `{"x":2,"n":3}`}, Step{}, []string{"p{json}.n: 1 => 3"}},
		"forced": {m{"a": "x", "ab": "x"}, m{"a": "y", "ab": "y"}, Step{Replaces: []string{"a"}},
			[]string{`a: "x" => "y" !`, `ab: "x" => "y"`}},
		"a secret":            {m{"s": event.Masked}, m{"s": event.Masked}, Step{Properties: []string{"s"}}, []string{"s: [secret] => [secret]"}},
		"beside a secret":     {m{"v": m{"s": event.Masked, "a": 1.0}}, m{"v": m{"s": event.Masked, "a": 2.0}}, Step{Properties: []string{"v.a"}}, []string{"v.a: 1 => 2"}},
		"a secret in a list":  {m{"l": l{event.Masked}}, m{"l": l{event.Masked}}, Step{Properties: []string{"l[0]"}}, []string{"l[0]: [secret] => [secret]"}},
		"a key with a dot":    {m{"data": m{"a.b": event.Masked}}, m{"data": m{"a.b": event.Masked}}, Step{Properties: []string{`data["a.b"]`}}, []string{`data["a.b"]: [secret] => [secret]`}},
		"it becomes secret":   {m{"s": "hunter2"}, m{"s": event.Masked}, Step{}, []string{"s: [secret] => [secret]"}},
		"it was secret":       {m{"s": event.Masked}, m{"s": "hunter2"}, Step{}, []string{"s: [secret] => [secret]"}},
		"unknown":             {m{"a": "x"}, m{"a": Unknown}, Step{}, []string{`a: "x" => [unknown]`}},
		"a forgotten secret":  {m{"data": m{"DB_PASSWORD": "a"}}, m{"data": m{"DB_PASSWORD": "b"}}, Step{}, []string{"data.DB_PASSWORD: [hidden: not marked as secret] => [hidden: not marked as secret]"}},
		"its name":            {m{"passwordName": "a"}, m{"passwordName": "b"}, Step{}, []string{`passwordName: "a" => "b"`}},
		"a key by its form":   {m{"v": "a"}, m{"v": "id AKIAIOSFODNN7EXAMPLE"}, Step{}, []string{`v: "a" => [hidden: not marked as secret]`}},
		"a Kubernetes Secret": {m{"data": m{"x": "a"}}, m{"data": m{"x": "b"}}, Step{Type: "kubernetes:core/v1:Secret"}, []string{"data.x: [hidden: not marked as secret] => [hidden: not marked as secret]"}},
		"nested and new":      {m{}, m{"auth": m{"token": "abc", "user": "ann"}}, Step{}, []string{`auth: + {"token":"[hidden: not marked as secret]","user":"ann"}`}},
		"the lines of a key":  {m{"k": "-----BEGIN PRIVATE KEY-----\nMIIa\n-----END PRIVATE KEY-----\n"}, m{"k": "-----BEGIN PRIVATE KEY-----\nMIIb\n-----END PRIVATE KEY-----\n"}, Step{}, []string{"k: [hidden: not marked as secret] => [hidden: not marked as secret]"}},
		"a line of a text":    {m{"env": "A=1\nDB_PASSWORD=one\n"}, m{"env": "A=1\nDB_PASSWORD=two\n"}, Step{}, []string{`env: "DB_PASSWORD=[hidden: not marked as secret]" => "DB_PASSWORD=[hidden: not marked as secret]"`}},
		"a part of a text":    {m{"v": "x"}, m{"v": "Server=db;Password=abc;Port=1"}, Step{}, []string{`v: "x" => "Server=db;Password=[hidden: not marked as secret];Port=1"`}},
		"a marked part":       {m{"v": "x"}, m{"v": "token: [secret]"}, Step{}, []string{`v: [secret] => "token: [secret]"`}},
		"no secret by a name": {m{"v": "secretName: a"}, m{"v": "secretName: b, tokens=5"}, Step{}, []string{`v: "secretName: a" => "secretName: b, tokens=5"`}},
		"a chart's name":      {m{"existingSecret": "a", "clientSecret": "a"}, m{"existingSecret": "b", "clientSecret": "b"}, Step{}, []string{"clientSecret: [hidden: not marked as secret] => [hidden: not marked as secret]", `existingSecret: "a" => "b"`}},
		"a name beside it":    {m{"env": l{m{"name": "DB_PASSWORD", "value": "a"}}}, m{"env": l{m{"name": "DB_PASSWORD", "value": "b"}}}, Step{}, []string{"env[0].value: [hidden: not marked as secret] => [hidden: not marked as secret]"}},
		"a new one":           {m{"env": l{}}, m{"env": l{m{"name": "API_KEY", "value": "a"}}}, Step{}, []string{`env[]: + {"name":"API_KEY","value":"[hidden: not marked as secret]"}`}},
		"long":                {m{"a": "x"}, m{"a": long}, Step{}, []string{`a: "x" => "` + strings.Repeat("x", 119) + "…"}},
	} {
		step := test.step
		step.Op, step.Old, step.Inputs = "update", test.before, test.after
		got := lists.Map(step.Changes(), func(c event.ValueChange) string {
			if c.Replaces {
				return c.String() + " !"
			}
			return c.String()
		})
		slices.Sort(got)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestChangedLines: of a text of many lines, those that differ are shown.
func TestChangedLines(t *testing.T) {
	t.Parallel()
	step := Step{Op: "update", Old: map[string]any{"t": "one\ntwo\nthree\n"}, Inputs: map[string]any{"t": "one\nTWO\nand more\nthree\n"}}
	want := []event.ValueChange{{Path: "t", Action: event.Update, Before: "two", After: "TWO\nand more", Line: 2}}
	if diff := cmp.Diff(want, step.Changes()); diff != "" {
		t.Error(diff)
	}
}

// TestChangesAreBounded: neither many values nor long ones fill the events of a run.
func TestChangesAreBounded(t *testing.T) {
	t.Parallel()
	before, after := map[string]any{}, map[string]any{}
	for i := range 1000 {
		name := string(rune('a'+i%26)) + strings.Repeat("y", i/26)
		before[name], after[name] = "x", strings.Repeat("z", 100_000)
	}
	changes := Step{Op: "update", Old: before, Inputs: after}.Changes()
	if len(changes) != mostValues {
		t.Errorf("%d values", len(changes))
	}
	for _, c := range changes {
		if text, _ := c.After.(string); len(text) > longestValue {
			t.Errorf("%d bytes", len(text))
		}
	}
}

func TestIsVague(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		after map[string]any
		want  bool
	}{
		{map[string]any{"a": 1.0}, true}, // nothing differs
		{map[string]any{"a": Unknown}, true},
		{map[string]any{"a": map[string]any{"b": "https://" + Unknown}}, true},
		{map[string]any{"a": 2.0}, false},
	} {
		step := Step{Op: "update", Old: map[string]any{"a": 1.0}, Inputs: test.after}
		if got := IsVague(step.Changes()); got != test.want {
			t.Errorf("%v: %t", test.after, got)
		}
	}
}
