package kindsdk_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/kind/kindsdk"
)

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

// TestNewCluster shows what reaches the engine: what is set, and nothing else.
func TestNewCluster(t *testing.T) {
	t.Parallel()
	var back string
	mock := &engine{}
	err := pulumi.RunErr(func(ctx *pulumi.Context) error {
		cluster, err := kindsdk.NewCluster(ctx, "cluster", &kindsdk.ClusterArgs{
			Name:      pulumi.String("mara-dev"),
			NodeImage: pulumi.String("kindest/node:v1.36.4"),
			Workers:   pulumi.Int(0),
			Mounts:    pulumi.MapArray{pulumi.Map{"hostPath": pulumi.String("/srv"), "containerPath": pulumi.String("/data")}},
			Labels:    pulumi.StringMap{"a": pulumi.String("b")},
		})
		if err != nil {
			return err
		}
		cluster.Name.ApplyT(func(name string) string {
			back = name
			return name
		})
		return nil
	}, pulumi.WithMocks("kind-cluster", "dev", mock))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"name": "mara-dev", "nodeImage": "kindest/node:v1.36.4", "workers": 0.0, "labels": map[string]any{"a": "b"},
		"mounts": []any{map[string]any{"hostPath": "/srv", "containerPath": "/data"}},
	}
	if diff := cmp.Diff(want, mock.args.Inputs.Mappable()); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	if back != "mara-dev" {
		t.Errorf("the name came back as %q", back)
	}
	if secret := mock.args.RegisterRPC.GetAdditionalSecretOutputs(); !cmp.Equal(secret, []string{"kubeconfig"}) {
		t.Errorf("secret outputs are %v, want the kubeconfig", secret)
	}
}

func TestMissingArguments(t *testing.T) {
	t.Parallel()
	err := pulumi.RunErr(func(ctx *pulumi.Context) error {
		if _, err := kindsdk.NewCluster(ctx, "cluster", &kindsdk.ClusterArgs{}); err == nil {
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
