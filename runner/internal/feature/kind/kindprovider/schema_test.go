package kindprovider_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/kind/kindsdk"
	"mara/runner/internal/feature/kind/kindprovider"
)

// schemaSpec is the part of Pulumi's package schema that is looked at.
type schemaSpec struct {
	Types     map[string]objectSpec
	Provider  resourceSpec
	Resources map[string]resourceSpec
}

type objectSpec struct {
	Properties map[string]propertySpec
	Required   []string
}

type resourceSpec struct {
	objectSpec
	InputProperties map[string]propertySpec
	RequiredInputs  []string
	Description     string
}

type propertySpec struct {
	Type, Ref            string
	Items                *propertySpec
	AdditionalProperties *propertySpec
	Description          string
	Secret               bool
	ReplaceOnChanges     bool
}

func readSchema(t *testing.T) schemaSpec {
	t.Helper()
	text, err := kindprovider.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// encoding/json does not know "$ref" and the embedded object's fields by other names.
	text = strings.ReplaceAll(text, `"$ref"`, `"ref"`)
	var spec schemaSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

func (p propertySpec) name() string {
	switch {
	case p.Ref != "":
		return p.Ref[strings.LastIndex(p.Ref, ":")+1:]
	case p.Items != nil:
		return "[]" + p.Items.name()
	case p.AdditionalProperties != nil:
		return "map of " + p.AdditionalProperties.name()
	}
	return p.Type
}

// typeName names the type behind an output as the schema does.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Map:
		return "map of " + typeName(t.Elem())
	case reflect.Int:
		return "integer"
	}
	return t.Kind().String()
}

// inputType returns the schema's name of an input's type.
func inputType(t *testing.T, of reflect.Type) string {
	t.Helper()
	name, known := map[string]string{
		"StringInput": "string, required", "IntInput": "integer, required", "StringPtrInput": "string", "IntPtrInput": "integer",
		"StringArrayInput": "[]string", "StringMapInput": "map of string", "MapArrayInput": "[]ClusterMount",
	}[of.Name()]
	if !known {
		t.Errorf("the test does not know %s", of)
	}
	return name
}

// TestSchemaIsTheSDKs holds the SDK that the programs are compiled with to the
// provider.
func TestSchemaIsTheSDKs(t *testing.T) {
	t.Parallel()
	spec := readSchema(t)
	tests := []struct {
		name           string
		resource       resourceSpec
		args, resulted any
	}{
		{"Provider", spec.Provider, kindsdk.ProviderArgs{}, kindsdk.Provider{}},
		{"Cluster", spec.Resources[kindsdk.ClusterToken], kindsdk.ClusterArgs{}, kindsdk.Cluster{}},
		{"Registry", spec.Resources[kindsdk.RegistryToken], kindsdk.RegistryArgs{}, kindsdk.Registry{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := map[string]string{}
			for _, field := range reflect.VisibleFields(reflect.TypeOf(test.args)) {
				want[field.Tag.Get("pulumi")] = inputType(t, field.Type)
			}
			got := map[string]string{}
			for name, p := range test.resource.InputProperties {
				got[name] = p.name()
				if slices.Contains(test.resource.RequiredInputs, name) {
					got[name] += ", required"
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("inputs (-SDK +provider):\n%s", diff)
			}
			checkOutputs(t, test.resource, reflect.TypeOf(test.resulted))
		})
	}
}

// checkOutputs holds that the provider returns what the SDK reads, that the
// kubeconfig alone is secret, and that everything is described.
func checkOutputs(t *testing.T, r resourceSpec, resulted reflect.Type) {
	t.Helper()
	for _, field := range reflect.VisibleFields(resulted) {
		name, ok := field.Tag.Lookup("pulumi")
		if !ok || name == "id" || name == "urn" { // every resource has these
			continue
		}
		output := reflect.New(field.Type).Elem().Interface().(pulumi.Output)
		if want, got := typeName(output.ElementType()), r.Properties[name].name(); got != want {
			t.Errorf("output %s is a %q, in the SDK %q", name, got, want)
		}
	}
	for name, p := range r.Properties {
		if p.Description == "" || p.Secret != (name == "kubeconfig") {
			t.Errorf("property %s: description %q, secret %t", name, p.Description, p.Secret)
		}
	}
	if r.Description == "" && resulted.Name() != "Provider" {
		t.Error("no description of " + resulted.Name())
	}
}
