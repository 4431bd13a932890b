package kindsdk_test

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/kind/kindsdk"
)

// TestTypesAgree holds the parts of a resource together: every input that the
// engine sees can be given, with the type it has, and comes back as an output.
func TestTypesAgree(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		args     pulumi.Input
		resource any
	}{
		{"Cluster", kindsdk.ClusterArgs{}, kindsdk.Cluster{}},
		{"Registry", kindsdk.RegistryArgs{}, kindsdk.Registry{}},
		{"Provider", kindsdk.ProviderArgs{}, kindsdk.Provider{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			given := reflect.TypeOf(test.args)
			outputs := outputTypes(t, reflect.TypeOf(test.resource))
			fields := reflect.VisibleFields(test.args.ElementType())
			if given.NumField() != len(fields) {
				t.Errorf("%s has %d fields, the struct behind it %d", given, given.NumField(), len(fields))
			}
			for _, field := range fields {
				name := field.Tag.Get("pulumi")
				if !strings.EqualFold(name, field.Name) {
					t.Errorf("field %s has the tag %q", field.Name, name)
				}
				if _, ok := given.FieldByName(field.Name); !ok {
					t.Errorf("%s lacks %s", given, field.Name)
				}
				if output, ok := outputs[name]; !ok || bare(output) != bare(field.Type) {
					t.Errorf("input %s is a %s, the output a %v", name, field.Type, output)
				}
			}
		})
	}
}

func outputTypes(t *testing.T, typ reflect.Type) map[string]reflect.Type {
	t.Helper()
	types := map[string]reflect.Type{}
	for _, field := range reflect.VisibleFields(typ) {
		name, ok := field.Tag.Lookup("pulumi")
		if !ok {
			continue
		}
		output, ok := reflect.New(field.Type).Elem().Interface().(pulumi.Output)
		if !ok {
			t.Errorf("%s.%s is not an output", typ, field.Name)
			continue
		}
		types[name] = output.ElementType()
	}
	return types
}

// bare strips the pointer that marks something as optional.
func bare(typ reflect.Type) reflect.Type {
	if typ.Kind() == reflect.Pointer {
		return typ.Elem()
	}
	return typ
}

// engine is a mock that remembers one resource and answers with its inputs.
type engine struct {
	mu   sync.Mutex // guards args
	args pulumi.MockResourceArgs
}

func (e *engine) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.args = args
	return args.Name + "-id", args.Inputs, nil
}

func (e *engine) Call(pulumi.MockCallArgs) (resource.PropertyMap, error) {
	return resource.PropertyMap{}, nil
}

// TestMountsTravel shows that the list of mounts, the one type of our own,
// reaches the engine and comes back.
func TestMountsTravel(t *testing.T) {
	t.Parallel()
	var got []kindsdk.ClusterMount
	mock := &engine{}
	err := pulumi.RunErr(func(ctx *pulumi.Context) error {
		cluster, err := kindsdk.NewCluster(ctx, "cluster", &kindsdk.ClusterArgs{
			Name:      pulumi.String("mara-dev"),
			NodeImage: pulumi.String("kindest/node:v1.36.4"),
			Mounts: kindsdk.ClusterMountArray{
				kindsdk.ClusterMountArgs{HostPath: pulumi.String("/srv"), ContainerPath: pulumi.String("/data")},
			},
		})
		if err != nil {
			return err
		}
		cluster.Mounts.ApplyT(func(mounts []kindsdk.ClusterMount) int {
			got = mounts
			return len(mounts)
		})
		return nil
	}, pulumi.WithMocks("kind-cluster", "dev", mock))
	if err != nil {
		t.Fatal(err)
	}
	sent := mock.args.Inputs.Mappable()["mounts"]
	if diff := cmp.Diff([]any{map[string]any{"hostPath": "/srv", "containerPath": "/data"}}, sent); diff != "" {
		t.Errorf("mounts sent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]kindsdk.ClusterMount{{HostPath: "/srv", ContainerPath: "/data"}}, got); diff != "" {
		t.Errorf("mounts back (-want +got):\n%s", diff)
	}
	if secret := mock.args.RegisterRPC.GetAdditionalSecretOutputs(); !cmp.Equal(secret, []string{"kubeconfig"}) {
		t.Errorf("secret outputs are %v, want the kubeconfig", secret)
	}
}

func TestMissingArguments(t *testing.T) {
	t.Parallel()
	err := pulumi.RunErr(func(ctx *pulumi.Context) error {
		if _, err := kindsdk.NewCluster(ctx, "cluster", nil); err == nil {
			t.Error("a cluster without arguments was accepted")
		}
		if _, err := kindsdk.NewRegistry(ctx, "registry", &kindsdk.RegistryArgs{}); err == nil {
			t.Error("a registry without arguments was accepted")
		}
		return nil
	}, pulumi.WithMocks("kind-cluster", "dev", &engine{}))
	if err != nil {
		t.Fatal(err)
	}
}
