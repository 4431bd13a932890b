package controller_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/programtest"
	controller "mara/projects/kubernetes/nginx/ingress-controller"
)

const (
	releaseType = "kubernetes:helm.sh/v3:Release"
	secretType  = "kubernetes:core/v1:Secret"
	serviceType = "kubernetes:core/v1:Service"

	definitionType = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
)

// balancer returns the status of a Service with the given entry.
func balancer(entry resource.PropertyMap) resource.PropertyMap {
	return resource.PropertyMap{"status": resource.NewProperty(resource.PropertyMap{
		"loadBalancer": resource.NewProperty(resource.PropertyMap{
			"ingress": resource.NewProperty([]resource.PropertyValue{resource.NewProperty(entry)}),
		}),
	})}
}

func run(t *testing.T, config map[string]string, service resource.PropertyMap) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.IngressController(), Program: controller.Program, Config: config,
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig":                   {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))},
			"ingress-controller-namespace": {"namespace": resource.NewProperty("nginx-ingress")},
			"kic-image-push": {
				"image_repository": resource.NewProperty("registry.example.com/nginx-ingress"),
				"image_tag":        resource.NewProperty("5.5.4"),
				"image_digest":     resource.NewProperty("sha256:0123"),
			},
		},
		Outputs: map[string]resource.PropertyMap{
			releaseType: {"status": resource.NewProperty(resource.PropertyMap{
				"namespace": resource.NewProperty("nginx-ingress"), "status": resource.NewProperty("deployed"),
			})},
			serviceType: service,
		},
		Call: render,
	})
}

// render answers for the chart: one object of its templates, one definition.
func render(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	if args.Token != "kubernetes:helm:template" {
		return nil, fmt.Errorf("unexpected %s", args.Token)
	}
	return resource.NewPropertyMapFromMap(map[string]any{"result": []any{
		map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "nginx-ingress"}},
		map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": "policies.k8s.nginx.org"},
		},
	}}), nil
}

func TestAddress(t *testing.T) {
	t.Parallel()
	hostname := resource.PropertyMap{"hostname": resource.NewProperty("lb.example.com")}
	ip := resource.PropertyMap{"ip": resource.NewProperty("192.0.2.1")}
	both := resource.PropertyMap{"hostname": hostname["hostname"], "ip": ip["ip"]}
	tests := []struct {
		name, infraType       string
		service               resource.PropertyMap
		address, hostname, ip string
	}{
		{"host name", "aws", balancer(hostname), "lb.example.com", "lb.example.com", ""},
		{"IP address", "linode", balancer(ip), "192.0.2.1", "", "192.0.2.1"},
		{"both", "linode", balancer(both), "lb.example.com", "lb.example.com", "192.0.2.1"},
		{"none yet", "aws", nil, "", "", ""},
		{"this machine", "kind", nil, "localhost", "localhost", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, map[string]string{"kubernetes:infra_type": tt.infraType}, tt.service)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			want := map[string]programtest.Export{
				"address":       {Value: tt.address, Known: true},
				"hostname":      {Value: tt.hostname, Known: true},
				"ip":            {Value: tt.ip, Known: true},
				"ingress_class": {Value: "nginx", Known: true},
			}
			if diff := cmp.Diff(want, result.Exports); diff != "" {
				t.Errorf("outputs differ (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.IngressController())
			want2 := []string{"ingress-controller-namespace", "kic-image-push", "kubeconfig"}
			if diff := cmp.Diff(want2, result.References()); diff != "" {
				t.Errorf("references differ (-want +got):\n%s", diff)
			}
			if tt.infraType != "kind" {
				if got := result.One(t, serviceType, "nginx-ingress-controller").ID; got != "nginx-ingress/nginx-ingress-controller" {
					t.Errorf("reads the Service %q", got)
				}
			}
		})
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any // path with dots (keys with dots in quotes are not needed here) to value
	}{
		{
			name: "kind", config: map[string]string{"kubernetes:infra_type": "kind"},
			want: map[string]any{
				"controller kind": "daemonset", "controller hostPort enable": true, "controller service type": "NodePort",
				"controller config entries external-status-address": "localhost",
				"controller serviceAccount":                         nil, "controller service annotations": nil,
				"controller lifecycle": nil,
			},
		},
		{
			name: "aws", config: map[string]string{"kubernetes:infra_type": "aws"},
			want: map[string]any{
				"controller kind": "deployment", "controller replicaCount": 2.0, "controller service type": "LoadBalancer",
				"controller service annotations service.beta.kubernetes.io/aws-load-balancer-type": "nlb",
				"controller podDisruptionBudget enabled":                                           true,
				"controller config entries external-status-address":                                nil,
				"controller hostPort": nil,
				// Balancers notice late that a pod ends.
				"controller lifecycle preStop sleep seconds": 30.0, "controller terminationGracePeriodSeconds": 60.0,
			},
		},
		{
			name: "linode", config: map[string]string{"kubernetes:infra_type": "linode", "nginx:replicas": "1"},
			want: map[string]any{
				"controller serviceAccount imagePullSecretName": "ingress-controller-registry",
				"controller replicaCount":                       1.0, "controller podDisruptionBudget enabled": false,
				"controller service annotations": nil,
			},
		},
		{
			name: "image and safe defaults", config: map[string]string{"kubernetes:infra_type": "aws"},
			want: map[string]any{
				"controller image repository": "registry.example.com/nginx-ingress", "controller image tag": "5.5.4",
				"controller image digest": "sha256:0123", "controller nginxplus": false,
				"controller service customPorts": nil, "prometheus service": nil,
				"controller enableCustomResources": false, "controller telemetryReporting enable": false,
				"controller config entries otel-exporter-endpoint": nil,
			},
		},
		{
			name: "tracing", config: map[string]string{"kubernetes:infra_type": "aws", "nginx:tracing": "true"},
			want: map[string]any{
				"controller config entries otel-exporter-endpoint": "http://otel-collector.observability.svc:4317",
				"controller config entries otel-trace-in-http":     "true",
			},
		},
		{
			name: "source ranges", config: map[string]string{
				"kubernetes:infra_type": "aws", "nginx:source_ranges": `["203.0.113.0/24"]`,
			},
			want: map[string]any{"controller service loadBalancerSourceRanges": []any{"203.0.113.0/24"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, tt.config, nil)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			release := result.One(t, releaseType, "nginx-ingress")
			for path, want := range tt.want {
				got := release.Value(append([]string{"values"}, strings.Fields(path)...)...)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", path, diff)
				}
			}
			if got := release.Value("skipCrds"); got != true {
				t.Errorf("skipCrds is %v although custom resources are off", got)
			}
			log, _ := release.Value("values", "controller", "config", "entries", "log-format").(string)
			traced := tt.config["nginx:tracing"] == "true"
			if strings.Contains(log, "$otel_trace_id") != traced || !strings.HasSuffix(log, `"}`) {
				t.Errorf("log format %s", log)
			}
		})
	}
}

func TestCustomResources(t *testing.T) {
	t.Parallel()
	for _, infraType := range programtest.Providers() {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, keep %v", infraType, keep), func(t *testing.T) {
				t.Parallel()
				result := run(t, map[string]string{
					"kubernetes:infra_type": infraType, "nginx:custom_resources": "true", "nginx:keep_crds": fmt.Sprint(keep),
				}, nil)
				if result.Err != nil {
					t.Fatal(result.Err)
				}
				definition := result.One(t, definitionType, "policies.k8s.nginx.org")
				if definition.RetainOnDelete != keep {
					t.Errorf("kept after a destroy: %v", definition.RetainOnDelete)
				}
				release := result.One(t, releaseType, "nginx-ingress")
				if got := release.Value("values", "controller", "enableCustomResources"); got != true {
					t.Errorf("enableCustomResources is %v", got)
				}
				if got := release.Value("skipCrds"); got != true {
					t.Errorf("skipCrds is %v: Helm would leave the definitions behind", got)
				}
				if !release.DependsOn(definitionType, "policies.k8s.nginx.org") {
					t.Error("the release does not wait for the definitions")
				}
			})
		}
	}
}

func TestNoDefinitionsWithoutCustomResources(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "kind"}, nil)
	if definitions := result.All(definitionType); result.Err != nil || len(definitions) > 0 {
		t.Errorf("definitions %v, error %v", definitions, result.Err)
	}
}

func TestPlus(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "license.jwt")
	if err := os.WriteFile(token, []byte("the-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	result := run(t, map[string]string{"kubernetes:infra_type": "kind", "kic:nginx_plus": "true", "kic:jwt_path": token}, nil)
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	secret := result.One(t, secretType, "nginx-plus-license")
	if got := secret.Value("stringData", "license.jwt"); got != "the-token" || !secret.IsSecret("stringData", "license.jwt") {
		t.Errorf("licence %v, secret %v", got, secret.IsSecret("stringData", "license.jwt"))
	}
	if got := secret.Value("type"); got != "nginx.com/license" {
		t.Errorf("type %v", got)
	}
	release := result.One(t, releaseType, "nginx-ingress")
	if got := release.Value("values", "controller", "mgmt", "licenseTokenSecretName"); got != "nginx-plus-license" {
		t.Errorf("licenseTokenSecretName is %v", got)
	}
	if !release.DependsOn(secretType, "nginx-plus-license") {
		t.Error("the release does not wait for its licence")
	}
}

func TestPlusRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, path, want string }{
		{"no licence", "", "needs its licence token"},
		{"unreadable licence", "/nowhere/license.jwt", "names a file that cannot be read"},
		{"relative path", "license.jwt", "which is not an absolute path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			config := map[string]string{"kubernetes:infra_type": "kind", "kic:nginx_plus": "true", "kic:jwt_path": tt.path}
			if err := run(t, config, nil).Err; err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want it to contain %q", err, tt.want)
			}
		})
	}
}
