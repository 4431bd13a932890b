package kindprovider_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/kind/kindsdk"
	"mara/runner/internal/kindprovider"
)

// described is what both sides have to agree on about an input or an output.
type described struct {
	Type     string
	Required bool
	Replaces bool
	Secret   bool
	Doc      string
}

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

func fromSchema(properties map[string]propertySpec, required []string) map[string]described {
	all := map[string]described{}
	for name, p := range properties {
		all[name] = described{
			Type: p.name(), Required: slices.Contains(required, name), Replaces: p.ReplaceOnChanges, Secret: p.Secret, Doc: p.Description,
		}
	}
	return all
}

// typeName names a Go type as the schema does.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Map:
		return "map of " + typeName(t.Elem())
	case reflect.Struct:
		return t.Name()
	case reflect.Int:
		return "integer"
	case reflect.Bool:
		return "boolean"
	}
	return t.Kind().String()
}

// fromInputs reads the struct behind an SDK's arguments.
func fromInputs(typ reflect.Type, docs map[string]string) map[string]described {
	all := map[string]described{}
	for _, field := range reflect.VisibleFields(typ) {
		kind := field.Type.Kind()
		all[field.Tag.Get("pulumi")] = described{
			Type: typeName(field.Type), Required: kind != reflect.Pointer && kind != reflect.Slice && kind != reflect.Map,
			Replaces: field.Tag.Get("provider") == "replaceOnChanges", Doc: docs[field.Name],
		}
	}
	return all
}

// sources are the comments on the fields of the SDK's types.
func sources(t *testing.T) map[string]map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../../projects/infrastructure/kind/kindsdk/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("the SDK's sources are not there: %v", err)
	}
	docs := map[string]map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok {
				docs[spec.Name.Name] = map[string]string{}
				for _, field := range fields.Fields.List {
					for _, name := range field.Names {
						docs[spec.Name.Name][name.Name] = strings.TrimSpace(field.Doc.Text())
					}
				}
			}
			return false
		})
	}
	return docs
}

// TestSchemaIsTheSDKs holds the provider to the SDK that the programs are
// compiled with, and that the simulation takes its rules from.
func TestSchemaIsTheSDKs(t *testing.T) {
	t.Parallel()
	spec, docs := readSchema(t), sources(t)
	tests := []struct {
		name     string
		resource resourceSpec
		args     pulumi.Input
		state    any
	}{
		{"Provider", spec.Provider, kindsdk.ProviderArgs{}, kindsdk.Provider{}},
		{"Cluster", spec.Resources[kindsdk.ClusterToken], kindsdk.ClusterArgs{}, kindsdk.Cluster{}},
		{"Registry", spec.Resources[kindsdk.RegistryToken], kindsdk.RegistryArgs{}, kindsdk.Registry{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inputs := test.args.ElementType()
			want := fromInputs(inputs, docs[inputs.Name()])
			got := fromSchema(test.resource.InputProperties, test.resource.RequiredInputs)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("inputs (-SDK +provider):\n%s", diff)
			}
			checkOutputs(t, test.resource, want, reflect.TypeOf(test.state), docs[test.name])
		})
	}
	mount := reflect.TypeFor[kindsdk.ClusterMount]()
	got := fromSchema(spec.Types["kind:index:ClusterMount"].Properties, spec.Types["kind:index:ClusterMount"].Required)
	for name, d := range fromInputs(mount, nil) {
		if got[name].Type != d.Type || got[name].Required != d.Required || got[name].Doc == "" {
			t.Errorf("%s of a mount is %+v, in the SDK %+v", name, got[name], d)
		}
	}
	if len(got) != mount.NumField() {
		t.Errorf("a mount has %d properties, in the SDK %d", len(got), mount.NumField())
	}
}

// checkOutputs holds that the provider returns what the SDK reads, and that
// what is secret in one is secret in the other.
func checkOutputs(t *testing.T, r resourceSpec, inputs map[string]described, state reflect.Type, docs map[string]string) {
	t.Helper()
	want := map[string]string{}
	for _, field := range reflect.VisibleFields(state) {
		name, ok := field.Tag.Lookup("pulumi")
		if !ok || name == "id" || name == "urn" { // every resource has these
			continue
		}
		output := reflect.New(field.Type).Elem().Interface().(pulumi.Output)
		want[name] = typeName(output.ElementType())
		if _, isInput := inputs[name]; !isInput && docs[field.Name] != r.Properties[name].Description {
			t.Errorf("output %s is %q, in the SDK %q", name, r.Properties[name].Description, docs[field.Name])
		}
		if secret := name == "kubeconfig"; r.Properties[name].Secret != secret {
			t.Errorf("output %s: secret is %t, want %t", name, r.Properties[name].Secret, secret)
		}
	}
	got := map[string]string{}
	for name, p := range r.Properties {
		got[name] = p.name()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outputs (-SDK +provider):\n%s", diff)
	}
	if r.Description == "" && state.Name() != "Provider" {
		t.Error(fmt.Sprint("no description of ", state.Name()))
	}
}
