package observability_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
	"mara/projects/kubernetes/observability"
)

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	result := programtest.Run(t, programtest.Case{
		Project: projects.Observability(), Program: observability.Program, Config: config,
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))},
		},
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	return result
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "kind"})
	result.CheckOutputs(t, projects.Observability())
	if got := result.Export(t, "otlp_grpc_endpoint").Value; got != "http://otel-collector.observability.svc:4317" {
		t.Errorf("endpoint %v", got)
	}
	if diff := cmp.Diff([]string{"kubeconfig"}, result.References()); diff != "" {
		t.Errorf("references differ (-want +got):\n%s", diff)
	}
}

func TestPodSecurity(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "kind"})
	programtest.CheckRestricted(t, result.One(t, "kubernetes:helm.sh/v3:Release", "otel-collector"))
}

func TestValues(t *testing.T) {
	t.Parallel()
	exporter := func(name string) any {
		return map[string]any{
			"receivers": []any{"otlp"}, "processors": []any{"memory_limiter", "batch"}, "exporters": []any{name},
		}
	}
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any
	}{
		{
			name: "kind", config: map[string]string{"kubernetes:infra_type": "kind"},
			want: map[string]any{
				"mode": "deployment", "replicaCount": 1.0, "podDisruptionBudget enabled": false,
				"config service pipelines traces":  exporter("debug"),
				"config service pipelines metrics": exporter("otlp_http/prometheus"),
				"ports zipkin enabled":             false, "ports metrics enabled": true,
				"fullnameOverride": "otel-collector",
			},
		},
		{
			name: "cloud with an address to send on to", config: map[string]string{
				"kubernetes:infra_type": "aws", "observability:otlp_endpoint": "https://otlp.example.com:4318",
			},
			want: map[string]any{
				"replicaCount": 2.0, "podDisruptionBudget enabled": true,
				"config exporters otlp_http/onward endpoint": "https://otlp.example.com:4318",
				"config service pipelines traces":            exporter("otlp_http/onward"),
				"config service pipelines logs":              exporter("otlp_http/onward"),
				"config service pipelines metrics":           exporter("otlp_http/prometheus"),
			},
		},
		{
			name: "mirror", config: map[string]string{"kubernetes:infra_type": "kind", "kubernetes:mirror": "m.example.com"},
			want: map[string]any{
				"image repository": "m.example.com/open-telemetry/opentelemetry-collector-releases/opentelemetry-collector-k8s",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			release := run(t, tt.config).One(t, "kubernetes:helm.sh/v3:Release", "otel-collector")
			for path, want := range tt.want {
				got := release.Value(append([]string{"values"}, strings.Fields(path)...)...)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", path, diff)
				}
			}
		})
	}
}
