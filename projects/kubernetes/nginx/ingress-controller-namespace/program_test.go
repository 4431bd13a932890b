package namespace_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
	namespace "mara/projects/kubernetes/nginx/ingress-controller-namespace"
)

func run(t *testing.T, infraType string, more ...string) programtest.Result {
	t.Helper()
	config := map[string]string{"kubernetes:infra_type": infraType}
	for i := 0; i+1 < len(more); i += 2 {
		config[more[i]] = more[i+1]
	}
	return programtest.Run(t, programtest.Case{
		Project: projects.IngressControllerNamespace(),
		Program: namespace.Program,
		Config:  config,
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))},
		},
	})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	result := run(t, "aws")
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	made := result.One(t, "kubernetes:core/v1:Namespace", "nginx-ingress")
	want := map[string]any{
		"name": "nginx-ingress",
		"labels": map[string]any{
			"app.kubernetes.io/managed-by":       "mara",
			"mara.dev/project":                   "ingress-controller-namespace",
			"mara.dev/stack":                     "dev",
			"pod-security.kubernetes.io/enforce": "restricted",
		},
	}
	if diff := cmp.Diff(want, made.Value("metadata")); diff != "" {
		t.Errorf("namespace differs (-want +got):\n%s", diff)
	}
	if got := result.Export(t, "namespace").Value; got != "nginx-ingress" {
		t.Errorf("output %v", got)
	}
	if diff := cmp.Diff([]string{"kubeconfig"}, result.References()); diff != "" {
		t.Errorf("references differ (-want +got):\n%s", diff)
	}
	result.CheckOutputs(t, projects.IngressControllerNamespace())
}

// TestPodSecurity: the level can be lowered for charts whose values need more.
func TestPodSecurity(t *testing.T) {
	t.Parallel()
	made := run(t, "kind", "kubernetes:pod_security", "warn").One(t, "kubernetes:core/v1:Namespace", "nginx-ingress")
	metadata, _ := made.Value("metadata").(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	if labels["pod-security.kubernetes.io/warn"] != "privileged" || labels["pod-security.kubernetes.io/enforce"] != nil {
		t.Errorf("labels %v", labels)
	}
	if err := run(t, "kind", "kubernetes:pod_security", "ignore").Err; err == nil || !strings.Contains(err.Error(), "allowed: enforce, warn") {
		t.Errorf("error %v, want one that lists what is allowed", err)
	}
}

func TestUnknownProvider(t *testing.T) {
	t.Parallel()
	want := "allowed: " + strings.Join(programtest.Providers(), ", ")
	if err := run(t, "azure").Err; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that lists what is allowed", err)
	}
}
