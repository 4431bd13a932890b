package cluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/programtest"
	"mara/projects/internal/settings"
)

func TestPodSecurity(t *testing.T) {
	t.Parallel()
	everywhere := map[string]string{
		"bank-of-anthos": "baseline", "cert-manager": "restricted", "harbor": "restricted", "logagent": "privileged",
		"observability": "restricted", "prometheus": "privileged", "metrics-server": "restricted", "access": "restricted",
		"dashboard": "restricted", "external-dns": "restricted", "cluster-autoscaler": "restricted", "velero": "privileged",
	}
	for infrastructure, own := range map[string]map[string]string{
		"aws":    {"logstore": "privileged", "nginx-ingress": "restricted"},
		"kind":   {"logstore": "restricted", "nginx-ingress": "privileged"},
		"linode": {"logstore": "privileged", "nginx-ingress": "restricted"},
	} {
		t.Run(infrastructure, func(t *testing.T) {
			t.Parallel()
			result := programtest.Run(t, programtest.Case{
				Project: projects.CertManager(), Config: map[string]string{"kubernetes:infra_type": infrastructure},
				Stacks: map[string]resource.PropertyMap{
					"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("a kubeconfig"))},
				},
				Program: func(ctx *pulumi.Context) error {
					c, err := cluster.Connect(ctx, settings.New(ctx, projects.CertManager()))
					for _, name := range namespaces() {
						if err == nil {
							_, err = c.Namespace(ctx, name)
						}
					}
					return err
				},
			})
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			got := map[string]string{}
			for _, namespace := range result.All("kubernetes:core/v1:Namespace") {
				got[namespace.Name], _ = namespace.Value("metadata", "labels", "pod-security.kubernetes.io/enforce").(string)
			}
			for name, level := range everywhere {
				own[name] = level
			}
			if diff := cmp.Diff(own, got); diff != "" {
				t.Errorf("levels differ (-want +got):\n%s", diff)
			}
		})
	}
}

// namespaces returns the namespaces of all projects.
func namespaces() []string {
	seen := map[string]bool{}
	var names []string
	for _, project := range projects.All() {
		if project.Namespace != "" && !seen[project.Namespace] {
			seen[project.Namespace] = true
			names = append(names, project.Namespace)
		}
	}
	return names
}
