package simulate_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/runner/internal/feature/simulate"
)

func TestCheckIsStrict(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	unknown := resource.MakeComputed(resource.NewStringProperty(""))
	cases := []struct {
		name string
		in   map[string]any
		want map[string]string // path to a part of the reason
	}{
		{"all right", onNetwork("net-1"), nil},
		{"unknown input", with(onNetwork("n"), "networc", "x"), map[string]string{"networc": `unknown input "networc"; did you mean "network"?`}},
		{"unknown input like no other", with(onNetwork("n"), "zzzzzzzz", "x"), map[string]string{"zzzzzzzz": `unknown input "zzzzzzzz"`}},
		{"unknown nested input", with(onNetwork("n"), "root", map[string]any{"size": 1, "sice": 2}), map[string]string{"root.sice": "did you mean"}},
		{"missing input", map[string]any{"root": map[string]any{"size": 1}}, map[string]string{"network": `missing required input "network", a string`}},
		{"missing nested input", with(onNetwork("n"), "root", map[string]any{}), map[string]string{"root.size": "missing required input"}},
		{"missing input in a list", with(onNetwork("n"), "extra", []any{map[string]any{}}), map[string]string{"extra[0].size": "missing required input"}},
		{"two at once", map[string]any{"network": 1}, map[string]string{"network": "must be a string, not a number", "root": "missing required input"}},
		{"not a list", with(onNetwork("n"), "extra", "x"), map[string]string{"extra": "must be a list, not a string"}},
		{"not whole", with(onNetwork("n"), "root", map[string]any{"size": 1.5}), map[string]string{"root.size": "must be a whole number"}},
		{"not an object", with(onNetwork("n"), "root", "x"), map[string]string{"root": "must be an object (disk)"}},
		{"not a boolean", with(onNetwork("n"), "running", "true"), map[string]string{"running": "must be a boolean"}},
		{"any number", with(onNetwork("n"), "ratio", 1.5), nil},
		{"free map", with(onNetwork("n"), "values", map[string]any{"a": []any{1, "b"}}), nil},
		{"null is nothing", with(onNetwork("n"), "password", nil), nil},
		{"secret of the wrong type", with(onNetwork("n"), "password", resource.MakeSecret(resource.NewNumberProperty(4711))), map[string]string{"password": "must be a string, not a number"}},
		{"not known yet", with(onNetwork("n"), "network", unknown), nil},
		{"not known as a whole", with(onNetwork("n"), "root", unknown), nil},
		{"own check", with(onNetwork("n"), "root", map[string]any{"size": 0}), map[string]string{"root.size": "must be at least 1"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := e
			e.t = t
			resp := e.check(machineType, resource.NewPropertyMapFromMap(c.in))
			if len(resp.GetFailures()) != len(c.want) {
				t.Errorf("got %v, want %v", resp.GetFailures(), c.want)
			}
			for _, failure := range resp.GetFailures() {
				isWanted := false
				for path, part := range c.want {
					isWanted = isWanted || strings.Contains(failure.GetReason(), path) && strings.Contains(failure.GetReason(), part)
				}
				if !isWanted || failure.GetProperty() != "" { // of which the engine prints the value as Go does
					t.Errorf("got %q, want %v", failure.GetReason(), c.want)
				}
				if strings.Contains(failure.GetReason(), "4711") {
					t.Errorf("%q shows a value, which may be secret", failure.GetReason())
				}
			}
		})
	}
}

func with(inputs map[string]any, key string, value any) map[string]any {
	inputs[key] = value
	return inputs
}

func TestUnknownTypes(t *testing.T) {
	t.Parallel()
	clouds := start(t, simulate.Options{})
	e := connect(t, clouds, "fake", nil)
	_, err := e.Check(t.Context(), &pulumirpc.CheckRequest{Urn: urn("fake:index:Machin", "x"), News: e.pack(nil)})
	wantError(t, err, `no resource type "fake:index:Machin"; did you mean "fake:index:Machine"?`)
	_, err = e.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "fake:index:getZone", Args: e.pack(nil)})
	wantError(t, err, `no function "fake:index:getZone"; did you mean "fake:index:getZones"?`)

	c := connect(t, clouds, "cluster", map[string]any{"server": "a"})
	_, err = c.Check(t.Context(), &pulumirpc.CheckRequest{Urn: urn("cluster:other/v1:Thing", "x"), News: c.pack(nil)})
	wantError(t, err, "no resource type")
	custom := c.check("cluster:example.com/v1:Custom", resource.NewPropertyMapFromMap(map[string]any{"spec": map[string]any{"a": 1}}))
	if len(custom.GetFailures()) > 0 {
		t.Errorf("a custom kind was refused: %v", custom.GetFailures())
	}
}

func TestGeneratedNames(t *testing.T) {
	t.Parallel()
	clouds := start(t, simulate.Options{})
	e := connect(t, clouds, "fake", nil)
	inputs := onNetwork("n")
	delete(inputs, "label")

	first := e.unpack(e.check(machineType, resource.NewPropertyMapFromMap(inputs)).GetInputs())
	label := first["label"].StringValue()
	if !strings.HasPrefix(label, "x-") || len(label) != len("x-12345678") {
		t.Errorf("generated the name %q", label)
	}
	resp, err := e.Check(t.Context(), &pulumirpc.CheckRequest{
		Urn: urn(machineType, "x"), News: e.pack(inputs), Olds: e.pack(map[string]any{"label": "x-from-before"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.unpack(resp.GetInputs())["label"].StringValue(); got != "x-from-before" {
		t.Errorf("the name changed to %q", got)
	}

	c := connect(t, clouds, "cluster", map[string]any{"server": "a"})
	nested := c.unpack(c.check(thingType, resource.PropertyMap{}).GetInputs())
	if name := nested["metadata"].ObjectValue()["name"].StringValue(); !strings.HasPrefix(name, "x-") {
		t.Errorf("generated the name %q", name)
	}
	unknown := resource.PropertyMap{"metadata": resource.MakeComputed(resource.NewStringProperty(""))}
	if kept := c.unpack(c.check(thingType, unknown).GetInputs()); !kept["metadata"].IsComputed() {
		t.Errorf("generated a name in place of an unknown one: %v", kept)
	}
}

// TestAReplacementHasANameOfItsOwn: what replaces a resource with a generated name is made first, under another one. The engine
// asks for its inputs as for a new resource's, after it has asked for the differences.
func TestAReplacementHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	inputs := onNetwork("n")
	delete(inputs, "label")
	replaced := with(maps.Clone(inputs), "root", map[string]any{"size": 8, "kind": "x"})
	check := func(olds, news map[string]any) (map[string]any, string) {
		resp, err := e.Check(t.Context(), &pulumirpc.CheckRequest{Urn: urn(machineType, "x"), News: e.pack(news), Olds: e.pack(olds)})
		if err != nil {
			t.Fatal(err)
		}
		checked := e.unpack(resp.GetInputs()).Mappable()
		return checked, checked["label"].(string)
	}
	before, first := check(nil, inputs)
	var names []string
	for range 2 { // a preview and the operation
		after, kept := check(before, replaced)
		if kept != first {
			t.Errorf("the name changed from %q to %q before it was replaced", first, kept)
		}
		resp, err := e.Diff(t.Context(), &pulumirpc.DiffRequest{Urn: urn(machineType, "x"), Id: first, OldInputs: e.pack(before), News: e.pack(after)})
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.GetReplaces()) == 0 || resp.GetDeleteBeforeReplace() {
			t.Errorf("replaces %v, and deletes first: %v", resp.GetReplaces(), resp.GetDeleteBeforeReplace())
		}
		_, name := check(nil, replaced)
		names = append(names, name)
	}
	if names[0] != names[1] || names[0] == first {
		t.Errorf("what replaces %q is called %q and %q", first, names[0], names[1])
	}
}

func TestProviderConfiguration(t *testing.T) {
	t.Parallel()
	clouds := start(t, simulate.Options{})
	cases := []struct {
		name, pkg string
		in        map[string]any
		want      string
	}{
		{"nothing", "fake", nil, ""},
		{"text", "fake", map[string]any{"region": "r", "version": "1.0.0"}, ""},
		{"JSON text", "fake", map[string]any{"retries": "3", "zones": `["a"]`}, ""},
		{"values", "fake", map[string]any{"retries": 3, "zones": []any{"a"}}, ""},
		{"wrong JSON", "fake", map[string]any{"retries": `"many"`}, "must be a whole number, not a string"},
		{"unknown key", "fake", map[string]any{"regio": "r"}, `unknown input "regio"; did you mean "region"?`},
		{"no scope", "cluster", nil, "no server given"},
		{"scope not known yet", "cluster", map[string]any{"server": resource.MakeComputed(resource.NewStringProperty(""))}, ""},
		{"scope", "cluster", map[string]any{"server": "a", "forget": "true"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := connect(t, clouds, c.pkg, map[string]any{"server": "x"}) // any valid configuration
			resp, err := e.CheckConfig(t.Context(), &pulumirpc.CheckRequest{
				Urn: urn("pulumi:providers:"+c.pkg, "p"), News: e.pack(c.in),
			})
			if err != nil {
				t.Fatal(err)
			}
			var got string
			for _, failure := range resp.GetFailures() {
				got += failure.GetReason()
			}
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestProviderReplacement(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "cluster", map[string]any{"server": "a"})
	diff := func(before, after map[string]any) []string {
		resp, err := e.DiffConfig(t.Context(), &pulumirpc.DiffRequest{OldInputs: e.pack(before), News: e.pack(after)})
		if err != nil {
			t.Fatal(err)
		}
		return resp.GetReplaces()
	}
	if got := diff(map[string]any{"server": "a"}, map[string]any{"server": "a", "forget": true}); len(got) > 0 {
		t.Errorf("the same cluster: replaces %v", got)
	}
	if got := diff(map[string]any{"server": "a"}, map[string]any{"server": "b"}); !cmp.Equal(got, []string{"server"}) {
		t.Errorf("another cluster: replaces %v", got)
	}
	if got := diff(map[string]any{"server": "a", "identity": "x"}, map[string]any{"server": "b", "identity": "x"}); len(got) > 0 {
		t.Errorf("the same cluster at another address: replaces %v", got)
	}
	if got := diff(map[string]any{"server": "a"}, map[string]any{"server": "a", "identity": "x"}); len(got) > 0 {
		t.Errorf("a cluster whose identity is named now: replaces %v", got)
	}
	if got := diff(map[string]any{"server": "a", "identity": "x"}, map[string]any{"server": "a", "identity": "y"}); len(got) == 0 {
		t.Error("another cluster at the same address replaces nothing")
	}
	unknown := resource.MakeComputed(resource.NewStringProperty(""))
	if got := diff(map[string]any{"server": "a"}, map[string]any{"server": unknown}); len(got) > 0 {
		t.Errorf("a cluster not known yet: replaces %v", got)
	}
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	resp, err := e.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: zonesToken, Args: e.pack(map[string]any{"state": "up"})})
	if err != nil {
		t.Fatal(err)
	}
	got := e.unpack(resp.GetReturn()).Mappable()
	id, _ := got["id"].(string)
	if !strings.HasPrefix(id, "simulated-") {
		t.Errorf("the id %q does not say that it is simulated", id)
	}
	delete(got, "id")
	if diff := cmp.Diff(map[string]any{"state": "up", "names": []any{"a", "b"}}, got); diff != "" {
		t.Error(diff)
	}
	resp, err = e.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: zonesToken, Args: e.pack(map[string]any{"stat": "up"})})
	if err != nil || len(resp.GetFailures()) != 2 {
		t.Errorf("got %v, %v; want one unknown and one missing argument", resp.GetFailures(), err)
	}
	_, err = e.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: zonesToken, Args: e.pack(map[string]any{"state": "broken"})})
	wantError(t, err, "the zones are broken")
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got the error %v, want one with %q", err, part)
	}
}
