package simulate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/runner/internal/feature/simulate"
)

// TestBridgedProvidersConvert: providers that the bridge to Terraform makes take a number for a text, and the like.
func TestBridgedProvidersConvert(t *testing.T) {
	t.Parallel()
	const schema = `{
  "name": "bridged", "version": "1.0.0", "meta": {"moduleFormat": "(.*)(?:/[^/]*)"},
  "types": {
    "bridged:index:rule": {"type": "object", "properties": {"port": {"type": "integer"}, "name": {"type": "string"}}},
    "bridged:index:size": {"type": "string", "enum": [{"value": "1"}, {"value": "2"}]}
  },
  "resources": {"bridged:index/box:Box": {
    "inputProperties": {
      "text": {"type": "string"}, "whole": {"type": "integer"}, "ratio": {"type": "number"}, "on": {"type": "boolean"},
      "tags": {"type": "object", "additionalProperties": {"type": "string"}}, "list": {"type": "array", "items": {"type": "string"}},
      "rule": {"$ref": "#/types/bridged:index:rule"}, "size": {"oneOf": [{"type": "string"}, {"$ref": "#/types/bridged:index:size"}]}
    },
    "properties": {"text": {"type": "string"}, "whole": {"type": "integer"}}
  }},
  "functions": {"bridged:index/get:get": {
    "inputs": {"properties": {"text": {"type": "string"}}}, "outputs": {"properties": {"text": {"type": "string"}}}
  }}
}`
	const box = "bridged:index/box:Box"
	connected := func(t *testing.T, pkg simulate.Package) engine {
		t.Helper()
		clouds, err := simulate.Start(t.Context(), []simulate.Package{pkg}, simulate.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = clouds.Close() })
		return connect(t, clouds, "bridged", nil)
	}
	bridged := simulate.Package{Name: "bridged", Schemas: [][]byte{[]byte(schema)}}
	e := connected(t, bridged)
	resp := e.check(box, resource.NewPropertyMapFromMap(map[string]any{
		"text": 1.5, "whole": "8", "ratio": "0.25", "on": "true", "tags": map[string]any{"count": 5, "prod": true, "big": 12345678901234},
		"list": []any{1, "a", false}, "rule": map[string]any{"port": "80", "name": 7}, "size": 2,
	}))
	if len(resp.GetFailures()) > 0 {
		t.Fatalf("refused: %v", resp.GetFailures())
	}
	want := map[string]any{
		"text": "1.5", "whole": 8.0, "ratio": 0.25, "on": true, "tags": map[string]any{"count": "5", "prod": "true", "big": "12345678901234"},
		"list": []any{"1", "a", "false"}, "rule": map[string]any{"port": 80.0, "name": "7"}, "size": "2",
	}
	if diff := cmp.Diff(want, e.unpack(resp.GetInputs()).Mappable()); diff != "" {
		t.Errorf("the inputs: %s", diff)
	}
	secret := e.check(box, resource.PropertyMap{"text": resource.MakeSecret(resource.NewProperty(4711.0))})
	if v := e.unpack(secret.GetInputs())["text"]; !v.IsSecret() || v.SecretValue().Element.StringValue() != "4711" {
		t.Errorf("a secret number became %v", v)
	}
	got, err := e.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "bridged:index/get:get", Args: e.pack(map[string]any{"text": 5})})
	if err != nil || e.unpack(got.GetReturn())["text"].V != "5" {
		t.Errorf("a function got %v, %v", got, err)
	}
	for name, c := range map[string]struct{ value, want any }{
		"text": {map[string]any{}, "must be a string, not an object"}, "whole": {"eight", "must be a whole number, not a string"},
		"on": {"yes", "must be a boolean, not a string"}, "ratio": {"NaN", "must be a number, not a string"}, "rule": {"80", "must be an object"},
	} {
		got := e.check(box, resource.NewPropertyMapFromMap(map[string]any{name: c.value})).GetFailures()
		if len(got) != 1 || !strings.Contains(got[0].GetReason(), c.want.(string)) {
			t.Errorf("%s = %v: %v", name, c.value, got)
		}
	}
	native := bridged
	native.Native = []string{box}
	if got := connected(t, native).check(box, resource.NewPropertyMapFromMap(map[string]any{"text": 5})).GetFailures(); len(got) != 1 {
		t.Errorf("a type with code of its own took a number for a text: %v", got)
	}
}
