package prometheus_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
	"mara/projects/kubernetes/prometheus"
)

const releaseType = "kubernetes:helm.sh/v3:Release"

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	result := programtest.Run(t, programtest.Case{
		Project: projects.Prometheus(), Program: prometheus.Program, Config: config,
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))},
			"secrets": {"secrets": resource.NewProperty(resource.PropertyMap{
				"prometheus": resource.NewProperty("prometheus-credentials"),
			})},
		},
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	return result
}

func TestProgram(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "kind"})
	result.CheckOutputs(t, projects.Prometheus())
	if diff := cmp.Diff([]string{"kubeconfig", "secrets"}, result.References()); diff != "" {
		t.Errorf("references differ (-want +got):\n%s", diff)
	}
	if len(result.All("kubernetes:core/v1:Namespace")) > 0 {
		t.Error("the namespace belongs to the secrets project")
	}
	stack := result.One(t, releaseType, "prometheus")
	if !stack.DependsOn(releaseType, "prometheus-operator-crds") {
		t.Error("the release does not wait for the definitions")
	}
	for _, release := range result.All(releaseType) {
		if got := release.Value("namespace"); got != "prometheus" {
			t.Errorf("%s is in namespace %v", release.Name, got)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	const claim = "volumeClaimTemplate spec"
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any
	}{
		{
			name: "kind", config: map[string]string{"kubernetes:infra_type": "kind"},
			want: map[string]any{
				"crds enabled": false, "kubeEtcd enabled": false, "kubeScheduler enabled": false,
				"kubeControllerManager enabled": false, "kubeProxy enabled": false,
				"grafana admin existingSecret": "prometheus-credentials", "grafana admin userKey": "admin-user",
				"grafana admin passwordKey": "admin-password", "grafana adminPassword": nil,
				"grafana service type": "ClusterIP", "grafana ingress": nil, "grafana initChownData enabled": false,
				"prometheus prometheusSpec podMonitorSelectorNilUsesHelmValues":                  false,
				"prometheus prometheusSpec serviceMonitorSelectorNilUsesHelmValues":              false,
				"prometheus prometheusSpec storageSpec " + claim + " resources requests storage": "10Gi",
				"prometheus prometheusSpec storageSpec " + claim + " storageClassName":           nil,
				"prometheus prometheusSpec resources requests memory":                            "400Mi",
				"alertmanager alertmanagerSpec replicas":                                         1.0,
				"global":                                                                         nil,
			},
		},
		{
			name: "linode", config: map[string]string{"kubernetes:infra_type": "linode", "prometheus:storage_size": "20Gi"},
			want: map[string]any{
				"prometheus prometheusSpec storageSpec " + claim + " storageClassName": "linode-block-storage",
				"alertmanager alertmanagerSpec storage " + claim + " storageClassName": "linode-block-storage",
				"grafana persistence storageClassName":                                 "linode-block-storage",
				"grafana persistence size":                                             "20Gi",
				"alertmanager alertmanagerSpec replicas":                               2.0,
			},
		},
		{
			name: "mirror and retention", config: map[string]string{
				"kubernetes:infra_type": "aws", "kubernetes:mirror": "m.example.com/x", "prometheus:retention": "30d",
			},
			want: map[string]any{
				"global imageRegistry": "m.example.com/x", "prometheus prometheusSpec retention": "30d",
				"prometheus prometheusSpec retentionSize": "8GB",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			release := run(t, tt.config).One(t, releaseType, "prometheus")
			for path, want := range tt.want {
				if got := release.Value(append([]string{"values"}, strings.Fields(path)...)...); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
		})
	}
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	const key = "prometheus-operator-crds"
	removed := run(t, map[string]string{"kubernetes:infra_type": "kind"}).One(t, releaseType, key)
	if got := removed.Value("values", "crds"); got != nil {
		t.Errorf("values %v, want none", got)
	}
	kept := run(t, map[string]string{"kubernetes:infra_type": "kind", "prometheus:keep_crds": "true"}).One(t, releaseType, key)
	want := map[string]any{"annotations": map[string]any{"helm.sh/resource-policy": "keep"}}
	if diff := cmp.Diff(want, kept.Value("values", "crds")); diff != "" {
		t.Errorf("values differ (-want +got):\n%s", diff)
	}
	if got := kept.Value("chart"); got != "oci://ghcr.io/prometheus-community/charts/prometheus-operator-crds" {
		t.Errorf("chart %v", got)
	}
	if got := kept.Value("version"); got != "31.0.1" {
		t.Errorf("version %v", got)
	}
}

func TestPodMonitors(t *testing.T) {
	t.Parallel()
	release := run(t, map[string]string{"kubernetes:infra_type": "kind"}).One(t, releaseType, "prometheus")
	monitors, _ := release.Value("values", "prometheus", "additionalPodMonitors").([]any)
	namespaces := map[any]bool{}
	var applications []any
	for _, monitor := range monitors {
		selector := monitor.(map[string]any)["namespaceSelector"].(map[string]any)
		if selector["any"] == true { // of applications
			port := monitor.(map[string]any)["selector"].(map[string]any)["matchLabels"].(map[string]any)["mara.dev/metrics"]
			endpoint := monitor.(map[string]any)["podMetricsEndpoints"].([]any)[0].(map[string]any)
			applications = append(applications, port)
			if endpoint["port"] != port || endpoint["relabelings"] == nil {
				t.Errorf("applications with metrics on %v: %v", port, endpoint)
			}
			continue
		}
		namespaces[selector["matchNames"].([]any)[0]] = true
	}
	if diff := cmp.Diff([]any{"http", "metrics"}, applications); diff != "" {
		t.Errorf("ports of applications (-want +got):\n%s", diff)
	}
	rules, _ := json.Marshal(release.Value("values", "additionalPrometheusRulesMap"))
	if !strings.Contains(string(rules), "ApplicationErrors") {
		t.Errorf("rules %s", rules)
	}
	want := map[any]bool{"nginx-ingress": true, "cert-manager": true, "logagent": true, "observability": true}
	if diff := cmp.Diff(want, namespaces); diff != "" {
		t.Errorf("watched namespaces differ (-want +got):\n%s", diff)
	}
}
