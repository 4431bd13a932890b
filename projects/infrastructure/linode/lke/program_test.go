package lke_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/infrastructure/linode/lke"
	"mara/projects/internal/programtest"
)

const clusterType = "linode:index/lkeCluster:LkeCluster"

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.LinodeLKE(),
		Program: lke.Program,
		Config:  config,
		Outputs: map[string]resource.PropertyMap{
			clusterType: resource.NewPropertyMapFromMap(map[string]any{
				"kubeconfig": "YXBpVmVyc2lvbjogdjE=", "apiEndpoints": []any{"https://0123.us-ord-1.linodelke.net:443"},
			}),
		},
	})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	defaults := map[string]any{
		"label": "mara-dev", "k8sVersion": "1.36", "region": "us-ord",
		"pools":        []any{map[string]any{"type": "g6-standard-4", "count": 3.0}},
		"controlPlane": map[string]any{"highAvailability": false},
		"tags":         []any{"linode-lke", "mara-dev"},
	}
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any // what differs from the defaults
	}{
		{name: "defaults"},
		{
			name: "version, region, nodes and availability",
			config: map[string]string{
				"lke:k8s_version": "1.35", "lke:region": "eu-central", "lke:node_type": "g6-dedicated-8",
				"lke:node_count": "5", "lke:high_availability": "true",
			},
			want: map[string]any{
				"k8sVersion": "1.35", "region": "eu-central", "controlPlane": map[string]any{"highAvailability": true},
				"pools": []any{map[string]any{"type": "g6-dedicated-8", "count": 5.0}},
			},
		},
		{
			name:   "autoscaling",
			config: map[string]string{"lke:min_nodes": "2", "lke:max_nodes": "8"},
			want: map[string]any{"pools": []any{map[string]any{
				"type": "g6-standard-4", "autoscaler": map[string]any{"min": 2.0, "max": 8.0},
			}}},
		},
		{
			name:   "a limited API server",
			config: map[string]string{"lke:api_allowed_cidrs": `["203.0.113.0/24", "2001:db8::/32"]`},
			want: map[string]any{"controlPlane": map[string]any{
				"highAvailability": false,
				"acl": map[string]any{
					"enabled":   true,
					"addresses": []any{map[string]any{"ipv4s": []any{"203.0.113.0/24"}, "ipv6s": []any{"2001:db8::/32"}}},
				},
			}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			want := maps.Clone(defaults)
			maps.Copy(want, test.want)
			cluster := result.One(t, clusterType, "cluster")
			if diff := cmp.Diff(want, cluster.Inputs.Mappable()); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			if !slices.Contains(cluster.AdditionalSecretOutputs, "kubeconfig") {
				t.Error("the kubeconfig is not secret in the state")
			}
			if got := result.Export(t, "api_endpoint").Value; got != "https://0123.us-ord-1.linodelke.net:443" {
				t.Errorf("api_endpoint is %v", got)
			}
			result.CheckOutputs(t, projects.LinodeLKE())
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   string
	}{
		{"a version without quotes", map[string]string{"lke:k8s_version": "1.3"}, `is "1.3", which is not a version of Kubernetes`},
		{"a patch version", map[string]string{"lke:k8s_version": "1.36.4"}, "did you mean 1.36?"},
		{"no nodes", map[string]string{"lke:node_count": "0"}, "smallest allowed value is 1"},
		{"only a largest number", map[string]string{"lke:max_nodes": "3"}, "must be at least 1 when lke:max_nodes is set"},
		{"only a smallest number", map[string]string{"lke:min_nodes": "3"}, "is not set, but lke:min_nodes is"},
		{"a name for a range", map[string]string{"lke:api_allowed_cidrs": `["office"]`}, "not an address range"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			result.CheckRefused(t, test.want)
			if len(result.Resources) != 0 {
				t.Errorf("declared %v before the configuration was checked", result.Names())
			}
		})
	}
}
