package certmgr_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
	"mara/projects/kubernetes/certmgr"
)

const (
	releaseType = "kubernetes:helm.sh/v3:Release"
	issuerType  = "kubernetes:cert-manager.io/v1:ClusterIssuer"
)

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.CertManager(), Program: certmgr.Program, Config: config,
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))},
		},
	})
}

func TestIssuer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, kind string
		config     map[string]string
		want       any
	}{
		{
			name: "self-signed", kind: "self-signed", config: map[string]string{"kubernetes:infra_type": "kind"},
			want: map[string]any{"selfSigned": map[string]any{}},
		},
		{
			name: "acme", kind: "acme",
			config: map[string]string{
				"kubernetes:infra_type": "aws", "certmgr:issuer": "acme", "certmgr:acme_email": "ops@example.com",
			},
			want: map[string]any{"acme": map[string]any{
				"email": "ops@example.com", "server": "https://acme-v02.api.letsencrypt.org/directory",
				"privateKeySecretRef": map[string]any{"name": "mara-acme-account"},
				"solvers": []any{map[string]any{
					"http01": map[string]any{"ingress": map[string]any{"ingressClassName": "nginx"}},
				}},
			}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, tt.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			issuer := result.One(t, issuerType, "mara")
			if diff := cmp.Diff(tt.want, issuer.Value("spec")); diff != "" {
				t.Errorf("issuer differs (-want +got):\n%s", diff)
			}
			if got := issuer.Value("metadata", "name"); got != "mara" {
				t.Errorf("issuer is named %v", got)
			}
			if !issuer.DependsOn(releaseType, "cert-manager") {
				t.Error("the issuer does not wait for its definition and webhook")
			}
			if got := result.Export(t, "issuer_kind").Value; got != tt.kind {
				t.Errorf("issuer_kind %v", got)
			}
			result.CheckOutputs(t, projects.CertManager())
			if diff := cmp.Diff([]string{"kubeconfig"}, result.References()); diff != "" {
				t.Errorf("references differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		infraType string
		want      []string
	}{
		{"acme without an address", "aws", []string{`"certmgr:acme_email"`, "is not set, but certmgr:issuer is acme"}},
		{"acme on kind", "kind", []string{`"certmgr:issuer"`, "use self-signed", `"certmgr:acme_email"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := run(t, map[string]string{"kubernetes:infra_type": tt.infraType, "certmgr:issuer": "acme"}).Err
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want it to contain %q", err, want)
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
		want   map[string]any
	}{
		{"kind", map[string]string{"kubernetes:infra_type": "kind"}, map[string]any{
			"replicaCount": 1.0, "webhook replicaCount": 1.0, "podDisruptionBudget enabled": false,
			"crds enabled": true, "crds keep": false, "imageRegistry": nil, "installCRDs": nil,
		}},
		{"aws", map[string]string{"kubernetes:infra_type": "aws", "certmgr:keep_crds": "true"}, map[string]any{
			"replicaCount": 2.0, "cainjector replicaCount": 2.0, "webhook podDisruptionBudget enabled": true, "crds keep": true,
		}},
		{"mirror", map[string]string{"kubernetes:infra_type": "linode", "kubernetes:mirror": "m.example.com"}, map[string]any{
			"imageRegistry": "m.example.com",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			release := run(t, tt.config).One(t, releaseType, "cert-manager")
			for path, want := range tt.want {
				if got := release.Value(append([]string{"values"}, strings.Fields(path)...)...); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
		})
	}
}

// TestCertManagerOfOthers: one that is there already is used; only the issuer is made.
func TestCertManagerOfOthers(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "cluster", "certmgr:install": "false"})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	result.One(t, issuerType, "mara")
	if found := len(result.All(releaseType)) + len(result.All("kubernetes:core/v1:Namespace")); found > 0 {
		t.Errorf("declared %v", result.Names())
	}
}
