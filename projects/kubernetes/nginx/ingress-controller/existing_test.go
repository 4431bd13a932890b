package controller_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// TestExistingCluster: without a registry the public image is taken as it is, and node ports take the place of a load
// balancer.
func TestExistingCluster(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{
		"kubernetes:infra_type": "cluster", "cluster:entry": "node-ports", "cluster:address": "203.0.113.10",
		"cluster:https_node_port": "31443", "cluster:small": "true", "kic:image_name": "ghcr.io/nginx/kubernetes-ingress:5.5.4",
		"kubernetes:mirror": "mirror.example.com",
	}, nil)
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	if slices.Contains(result.References(), "kic-image-push") {
		t.Error("reads the image of a registry that the environment does not have")
	}
	release := result.One(t, releaseType, "nginx-ingress")
	got := map[string]any{}
	for _, name := range []string{"image", "service", "replicaCount", "serviceAccount"} {
		got[name] = release.Value("values", "controller", name)
	}
	want := map[string]any{
		"image": map[string]any{"repository": "mirror.example.com/nginx/kubernetes-ingress", "tag": "5.5.4", "digest": ""},
		"service": map[string]any{
			"type": "NodePort", "externalTrafficPolicy": "Cluster",
			"httpPort": map[string]any{"nodePort": 30080.0}, "httpsPort": map[string]any{"nodePort": 31443.0},
		},
		"replicaCount": 1.0, "serviceAccount": nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if status := release.Value("values", "controller", "config", "entries", "external-status-address"); status != "203.0.113.10" {
		t.Errorf("Ingresses show the address %v", status)
	}
	for name, want := range map[string]string{"address": "203.0.113.10", "hostname": "", "ip": "203.0.113.10"} {
		if got := result.Export(t, name).Value; got != want {
			t.Errorf("%s is %v, want %q", name, got, want)
		}
	}
}

// TestExistingClusterWithRegistry: the image comes from the registry, with its Secret, and a load balancer is the entry.
func TestExistingClusterWithRegistry(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{
		"kubernetes:infra_type": "cluster", "cluster:entry": "load-balancer", "cluster:registry": "registry.example.com",
	}, balancer(resource.PropertyMap{"ip": resource.NewProperty("203.0.113.9")}))
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	release := result.One(t, releaseType, "nginx-ingress")
	if got := release.Value("values", "controller", "serviceAccount", "imagePullSecretName"); got != "ingress-controller-registry" {
		t.Errorf("the Secret is %v", got)
	}
	if got := release.Value("values", "controller", "image", "digest"); got != "sha256:0123" {
		t.Errorf("the digest is %v", got)
	}
	if got := result.Export(t, "address").Value; got != "203.0.113.9" {
		t.Errorf("the address is %v", got)
	}
}

// TestSimulatedNodePorts: a simulation has no node whose address could be asked, and goes on with one for documentation.
func TestSimulatedNodePorts(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "cluster", "cluster:entry": "node-ports", "mara:simulated": "true"}, nil)
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	if got := result.Export(t, "ip").Value; got != "203.0.113.10" {
		t.Errorf("the address is %v", got)
	}
}
