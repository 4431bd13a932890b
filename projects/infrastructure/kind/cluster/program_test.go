package cluster_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/infrastructure/kind/cluster"
	"mara/projects/infrastructure/kind/kindsdk"
	"mara/projects/internal/programtest"
)

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.KindCluster(),
		Program: cluster.Program,
		Config:  config,
		Outputs: map[string]resource.PropertyMap{
			kindsdk.ClusterToken: resource.NewPropertyMapFromMap(map[string]any{
				"kubeconfig": "apiVersion: v1", "endpoint": "https://127.0.0.1:6443", "network": "kind", "uid": "u1",
				"nodeNames": []any{"mara-dev-control-plane"},
			}),
		},
	})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	defaults := map[string]any{
		"name": "mara-dev", "controlPlanes": 1.0, "workers": 0.0,
		"nodeImage":     "kindest/node:v1.36.4@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed",
		"listenAddress": "127.0.0.1", "httpPort": 80.0, "httpsPort": 443.0, "apiServerAddress": "127.0.0.1",
		"waitSeconds": 300.0, "labels": map[string]any{"mara.dev/project": "kind-cluster", "mara.dev/stack": "dev"},
	}
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any // what differs from the defaults
	}{
		{name: "defaults"},
		{
			name: "nodes and ports",
			config: map[string]string{
				"kind:control_planes": "3", "kind:workers": "2", "kind:http_port": "8080", "kind:https_port": "8443",
				"kind:api_server_port": "6443", "kind:listen_address": "0.0.0.0", "kind:wait_seconds": "0",
				"kind:node_image": "kindest/node:v1.35.8",
			},
			want: map[string]any{
				"controlPlanes": 3.0, "workers": 2.0, "httpPort": 8080.0, "httpsPort": 8443.0,
				"apiServerPort": 6443.0, "listenAddress": "0.0.0.0", "waitSeconds": 0.0,
				"nodeImage": "kindest/node:v1.35.8",
			},
		},
		{
			name:   "a mirror",
			config: map[string]string{"kubernetes:mirror": "registry.example.com/m", "kind:node_image": "kindest/node:v1.35.8"},
			want:   map[string]any{"nodeImage": "registry.example.com/m/kindest/node:v1.35.8"},
		},
		{
			name: "network and images",
			config: map[string]string{
				"kind:pod_subnet": "10.1.0.0/16", "kind:service_subnet": "10.2.0.0/16",
				"kind:mounts":           `["/srv/data:/data", "/srv/models:/models:ro"]`,
				"kind:registry_mirrors": `{"docker.io": "http://mirror:5000"}`,
				"kind:preload":          `["nginx/nginx-ingress:5.5.4"]`,
			},
			want: map[string]any{
				"podSubnet": "10.1.0.0/16", "serviceSubnet": "10.2.0.0/16",
				"mounts": []any{
					map[string]any{"hostPath": "/srv/data", "containerPath": "/data", "readOnly": false},
					map[string]any{"hostPath": "/srv/models", "containerPath": "/models", "readOnly": true},
				},
				"registryMirrors": map[string]any{"docker.io": "http://mirror:5000"},
				"preload":         []any{"nginx/nginx-ingress:5.5.4"},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			want := map[string]any{}
			for _, values := range []map[string]any{defaults, test.want} {
				for key, value := range values {
					want[key] = value
				}
			}
			declared := result.One(t, kindsdk.ClusterToken, "cluster")
			if diff := cmp.Diff(want, declared.Inputs.Mappable()); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			if !strings.Contains(declared.Provider, kindsdk.ProviderToken) {
				t.Error("the cluster uses the default provider, which would get the keys below kind:")
			}
			result.CheckOutputs(t, projects.KindCluster())
		})
	}
}

func TestRuntime(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kind:runtime": "podman"})
	if got := result.One(t, kindsdk.ProviderToken, "kind").Value("runtime"); got != "podman" {
		t.Errorf("the provider's runtime is %v, want podman", got)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   string
	}{
		{"control planes without workers", map[string]string{"kind:control_planes": "3"}, `"kind:workers"`},
		{"one port twice", map[string]string{"kind:http_port": "443"}, "is 443, the port of kind:https_port by default"},
		{"the API server's port", map[string]string{"kind:api_server_port": "80"}, `"kind:api_server_port"`},
		{"a port out of range", map[string]string{"kind:http_port": "70000"}, "largest allowed value is 65535"},
		{"a name for an address", map[string]string{"kind:listen_address": "localhost"}, "not an IP address"},
		{"a subnet with host bits", map[string]string{"kind:pod_subnet": "10.1.1.0/16"}, "did you mean 10.1.0.0/16?"},
		{"a relative mount", map[string]string{"kind:mounts": `["data:/data"]`}, "not two absolute paths"},
		{"half a mount", map[string]string{"kind:mounts": `["/data"]`}, "not two absolute paths"},
		{"a mirror without scheme", map[string]string{"kind:registry_mirrors": `{"docker.io": "mirror:5000"}`}, "not an http or https URL"},
		{"an unknown runtime", map[string]string{"kind:runtime": "lxc"}, "allowed: docker, podman, nerdctl"},
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
