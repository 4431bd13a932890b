package simulate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/asset"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/runner/internal/feature/simulate"
)

func TestCheckOfSchemasOwnTypes(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	script, err := asset.FromText("#!/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name  string
		key   string
		value any
		want  string
	}{
		{"one of the values", "color", "red", ""},
		{"none of the values", "color", "blue", `"color" must be one of "red", "green"`},
		{"a value of another type", "color", 3, `"color" must be a string, not a number`},
		{"the constant", "kind", "machine", ""},
		{"not the constant", "kind", "network", `"kind" must be "machine"`},
		{"the first type", "either", "x", ""},
		{"the second type", "either", map[string]any{"size": 1}, ""},
		{"nearly the second type", "either", map[string]any{"sise": 1}, `unknown input "either.sise"; did you mean "size"?`},
		{"neither type", "either", true, `"either" must be a string or an object (disk), not a boolean`},
		{"an asset", "script", script, ""},
		{"not an asset", "script", "x", `"script" must be an asset or an archive, not a string`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := e
			e.t = t
			var got []string
			for _, failure := range e.check(machineType, resource.NewPropertyMapFromMap(with(onNetwork("n"), c.key, c.value))).GetFailures() {
				got = append(got, failure.GetReason())
			}
			if text := strings.Join(got, "\n"); (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

// TestOnlyASchema: a type can be simulated from its schema alone.
func TestOnlyASchema(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	inputs := map[string]any{"size": "8", "disks": []any{map[string]any{"kind": "fast"}}}
	id, outputs := e.create(plainType, "p", inputs)
	if !strings.HasPrefix(id, "p-") {
		t.Errorf("got the id %q", id)
	}
	if !outputs["password"].IsSecret() {
		t.Errorf("the password is %v, want a secret", outputs["password"])
	}
	if name := outputs["name"].StringValue(); !strings.HasPrefix(name, "simulated-") {
		t.Errorf("name is %q, want a generated string", name)
	}
	got := outputs.Mappable()
	delete(got, "name")
	delete(got, "password")
	want := map[string]any{
		"size": 0.0, "color": "red", "disks": []any{map[string]any{"kind": "fast", "size": 0.0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an input that does not fit the output, or what is required of a nested one: %s", diff)
	}
	diff, err := e.Diff(t.Context(), &pulumirpc.DiffRequest{
		Urn: urn(plainType, "p"), Id: id, OldInputs: e.pack(map[string]any{"name": "a"}), News: e.pack(map[string]any{"name": "b"}),
	})
	if err != nil || !cmp.Equal(diff.GetReplaces(), []string{"name"}) {
		t.Errorf("got %v, %v, want name to replace", diff, err)
	}
	resp, err := e.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "fake:index:getPlain", Args: e.pack(nil)})
	if err != nil || !e.unpack(resp.GetReturn())["key"].IsSecret() {
		t.Errorf("got %v, %v, want a secret key", resp, err)
	}
}

// TestNoSchema: packages without a schema can be simulated.
func TestNoSchema(t *testing.T) {
	t.Parallel()
	clouds, err := simulate.Start(t.Context(), []simulate.Package{{Name: "any"}}, simulate.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = clouds.Close() })
	e := connect(t, clouds, "any", map[string]any{"token": "x"})
	const token = "any:index:Thing"
	inputs := map[string]any{"name": "n", "list": []any{1.0}}
	if failures := e.check(token, resource.NewPropertyMapFromMap(inputs)).GetFailures(); len(failures) > 0 {
		t.Errorf("got %v, want nothing to be checked", failures)
	}
	id, outputs := e.create(token, "t", inputs)
	if diff := cmp.Diff(inputs, outputs.Mappable()); id == "" || diff != "" {
		t.Errorf("%q: %s", id, diff)
	}
	resp, err := e.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "any:index:getThing", Args: e.pack(inputs)})
	if diff := cmp.Diff(inputs, e.unpack(resp.GetReturn()).Mappable()); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
	_, err = e.GetSchema(t.Context(), &pulumirpc.GetSchemaRequest{})
	wantError(t, err, "--simulate-schema")
}

func TestGetSchema(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	resp, err := e.GetSchema(t.Context(), &pulumirpc.GetSchemaRequest{})
	if err != nil || resp.GetSchema() != fakeSchema {
		t.Errorf("got %v, %v", resp, err)
	}
}

func TestSchemasThatDoNotFit(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		pkg  simulate.Package
		want string
	}{
		{"no JSON", simulate.Package{Name: "x", Schemas: [][]byte{[]byte("<html>")}}, "the simulated x: this is not the schema of a Pulumi package"},
		{"a type that it does not have", simulate.Package{
			Name: "x", Schemas: [][]byte{[]byte(`{}`)}, Resources: []simulate.Resource{{Token: "x:index:A"}},
		}, "the schema of the simulated x has no x:index:A"},
		{"a function that it does not have", simulate.Package{
			Name: "x", Schemas: [][]byte{[]byte(`{}`)}, Invokes: []simulate.Invoke{{Token: "x:index:a"}},
		}, "the schema of the simulated x has no function x:index:a"},
	}
	for _, c := range cases {
		_, err := simulate.Start(t.Context(), []simulate.Package{c.pkg}, simulate.Options{Dir: t.TempDir()})
		wantError(t, err, c.want)
	}
}

// TestSeveralSchemas lets a complete schema add to one that is cut down.
func TestSeveralSchemas(t *testing.T) {
	t.Parallel()
	pkg := fakeCloud()
	pkg.Schemas = append(pkg.Schemas, []byte(`{"name": "fake", "resources": {
		"fake:index:Machine": {"inputProperties": {}}, "fake:index:More": {"inputProperties": {"a": {"type": "string"}}}}}`))
	clouds, err := simulate.Start(t.Context(), []simulate.Package{pkg}, simulate.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = clouds.Close() })
	e := connect(t, clouds, "fake", nil)
	if failures := e.check(machineType, resource.NewPropertyMapFromMap(onNetwork("n"))).GetFailures(); len(failures) > 0 {
		t.Errorf("the first schema does not count: %v", failures)
	}
	if failures := e.check("fake:index:More", resource.NewPropertyMapFromMap(map[string]any{"b": 1})).GetFailures(); len(failures) != 1 {
		t.Errorf("the second schema does not count: %v", failures)
	}
}
