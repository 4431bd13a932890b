package registry_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/infrastructure/kind/kindsdk"
	"mara/projects/infrastructure/kind/registry"
	"mara/projects/internal/programtest"
)

func run(t *testing.T, test programtest.Case) programtest.Result {
	t.Helper()
	test.Project, test.Program = projects.KindRegistry(), registry.Program
	test.Outputs = map[string]resource.PropertyMap{
		kindsdk.RegistryToken: resource.NewPropertyMapFromMap(map[string]any{
			"endpoint": "localhost:5001", "internalEndpoint": "mara-dev-registry:5000",
		}),
	}
	return programtest.Run(t, test)
}

// clusterOutputs returns the outputs of the kind-cluster project.
func clusterOutputs() map[string]resource.PropertyMap {
	return map[string]resource.PropertyMap{
		"kind-cluster": resource.NewPropertyMapFromMap(map[string]any{
			"cluster_name": "mara-dev", "cluster_uid": "u1", "network": "kind",
			"node_names": []any{"mara-dev-control-plane"},
		}),
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any // what differs from the defaults
	}{
		{name: "defaults"},
		{
			name: "configured",
			config: map[string]string{
				"kind:registry_port": "5002", "kind:registry_address": "0.0.0.0", "kind:registry_image": "registry:3.0.0",
			},
			want: map[string]any{"hostPort": 5002.0, "hostAddress": "0.0.0.0", "image": "registry:3.0.0"},
		},
		{
			name:   "a mirror",
			config: map[string]string{"kubernetes:mirror": "registry.example.com/m/"},
			want:   map[string]any{"image": "registry.example.com/m/library/registry:3"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, programtest.Case{Config: test.config, Stacks: clusterOutputs()})
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			want := map[string]any{
				"name": "mara-dev-registry", "image": "registry:3", "hostAddress": "127.0.0.1", "hostPort": 5001.0,
				"network": "kind", "clusterName": "mara-dev", "clusterUid": "u1", "nodeNames": []any{"mara-dev-control-plane"},
				"labels": map[string]any{"mara.dev/project": "kind-registry", "mara.dev/stack": "dev"},
			}
			for key, value := range test.want {
				want[key] = value
			}
			declared := result.One(t, kindsdk.RegistryToken, "registry")
			if diff := cmp.Diff(want, declared.Inputs.Mappable()); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			if !strings.Contains(declared.Provider, kindsdk.ProviderToken) {
				t.Error("the registry uses the default provider, which would get the keys below kind:")
			}
			if diff := cmp.Diff([]string{"kind-cluster"}, result.References()); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.KindRegistry())
		})
	}
}

func TestPreviewBeforeTheCluster(t *testing.T) {
	t.Parallel()
	result := run(t, programtest.Case{Preview: true})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	// The mocks omit unknown inputs.
	if name := result.One(t, kindsdk.RegistryToken, "registry").Value("clusterName"); name != nil {
		t.Errorf("the name of a cluster that does not exist yet is %v, want unknown", name)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		test programtest.Case
		want string
	}{
		{"no cluster", programtest.Case{}, `project "kind-cluster" has no output`},
		{
			"a name for an address",
			programtest.Case{Config: map[string]string{"kind:registry_address": "localhost"}, Stacks: clusterOutputs()},
			"not an IP address",
		},
		{
			"a port out of range",
			programtest.Case{Config: map[string]string{"kind:registry_port": "0"}, Stacks: clusterOutputs()},
			"smallest allowed value is 1",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.test)
			result.CheckRefused(t, test.want)
		})
	}
}
