package doks_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/digitalocean/doks"
	"mara/projects/internal/programtest"
)

const clusterType = "digitalocean:index/kubernetesCluster:KubernetesCluster"

// versions answers for DigitalOcean, which offers 1.36 alone.
func versions(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	if args.Token != "digitalocean:index/getKubernetesVersions:getKubernetesVersions" {
		return nil, fmt.Errorf("unexpected call of %s", args.Token)
	}
	latest := ""
	if args.Args["versionPrefix"].StringValue() == "1.36." {
		latest = "1.36.2-do.0"
	}
	return resource.NewPropertyMapFromMap(map[string]any{"latestVersion": latest, "validVersions": []any{}}), nil
}

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.DigitalOceanDOKS(),
		Program: doks.Program,
		Config:  config,
		Call:    versions,
		Outputs: map[string]resource.PropertyMap{
			clusterType: resource.NewPropertyMapFromMap(map[string]any{
				"kubeConfigs": []any{map[string]any{"rawConfig": "apiVersion: v1"}}, "endpoint": "https://0123.k8s.ondigitalocean.com",
			}),
		},
	})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	defaults := map[string]any{
		"name": "mara-dev", "version": "1.36.2-do.0", "region": "nyc3", "ha": false, "kubeconfigExpireSeconds": 31536000.0,
		"nodePool": map[string]any{"name": "mara-dev-nodes", "size": "s-4vcpu-8gb", "nodeCount": 3.0},
		"tags":     []any{"digitalocean-doks", "mara-dev"},
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
				"doks:k8s_version": "1.35.6-do.1", "doks:region": "fra1", "doks:node_size": "c-4", "doks:node_count": "5",
				"doks:high_availability": "true", "doks:kubeconfig_days": "1",
			},
			want: map[string]any{
				"version": "1.35.6-do.1", "region": "fra1", "ha": true, "kubeconfigExpireSeconds": 86400.0,
				"nodePool": map[string]any{"name": "mara-dev-nodes", "size": "c-4", "nodeCount": 5.0},
			},
		},
		{
			name:   "autoscaling",
			config: map[string]string{"doks:min_nodes": "2", "doks:max_nodes": "8"},
			want: map[string]any{"nodePool": map[string]any{
				"name": "mara-dev-nodes", "size": "s-4vcpu-8gb", "autoScale": true, "minNodes": 2.0, "maxNodes": 8.0,
			}},
		},
		{
			name:   "a limited API server",
			config: map[string]string{"doks:api_allowed_cidrs": `["203.0.113.0/24", "198.51.100.7"]`},
			want: map[string]any{"controlPlaneFirewall": map[string]any{
				"enabled": true, "allowedAddresses": []any{"203.0.113.0/24", "198.51.100.7"},
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
			if !slices.Contains(cluster.AdditionalSecretOutputs, "kubeConfigs") {
				t.Error("the kubeconfig is not secret in the state")
			}
			if got := result.Export(t, "kubeconfig"); got.Value != "apiVersion: v1" || !got.Secret {
				t.Errorf("kubeconfig is %v", got)
			}
			result.CheckOutputs(t, projects.DigitalOceanDOKS())
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
		{"a version without quotes", map[string]string{"doks:k8s_version": "1.3"}, `is "1.3", which is not a version of Kubernetes`},
		{"a patch that DigitalOcean did not make", map[string]string{"doks:k8s_version": "1.36.2"}, "did you mean 1.36?"},
		{"a version that is not offered", map[string]string{"doks:k8s_version": "1.49"}, "doks:k8s_version: DigitalOcean does not offer Kubernetes 1.49"},
		{"no region", map[string]string{"doks:region": "nowhere"}, `is "nowhere", which is not a region such as nyc3`},
		{"no nodes", map[string]string{"doks:node_count": "0"}, "smallest allowed value is 1"},
		{"only a largest number", map[string]string{"doks:max_nodes": "3"}, "must be at least 1 when doks:max_nodes is set"},
		{"only a smallest number", map[string]string{"doks:min_nodes": "3"}, "is not set, but doks:min_nodes is"},
		{"a name for a range", map[string]string{"doks:api_allowed_cidrs": `["office"]`}, "which is not an address or an address range"},
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
