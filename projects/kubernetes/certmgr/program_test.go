package certmgr_test

import (
	"maps"
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

// byRecord returns an issuer whose authority finds a record.
func byRecord(solver map[string]any) map[string]any {
	return map[string]any{"acme": map[string]any{
		"email": "ops@example.com", "server": "https://acme-v02.api.letsencrypt.org/directory",
		"privateKeySecretRef": map[string]any{"name": "mara-acme-account"},
		"solvers":             []any{map[string]any{"dns01": solver}},
	}}
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
		{
			name: "by a record at Cloudflare, on kind", kind: "acme",
			config: map[string]string{"kubernetes:infra_type": "kind", "certmgr:acme_dns": "cloudflare"},
			want:   byRecord(map[string]any{"cloudflare": map[string]any{"apiTokenSecretRef": map[string]any{"name": "acme-dns-token", "key": "token"}}}),
		},
		{
			name: "by a record at DigitalOcean", kind: "acme",
			config: map[string]string{"kubernetes:infra_type": "digitalocean", "certmgr:acme_dns": "digitalocean"},
			want:   byRecord(map[string]any{"digitalocean": map[string]any{"tokenSecretRef": map[string]any{"name": "acme-dns-token", "key": "token"}}}),
		},
		{
			name: "by a record at AWS", kind: "acme",
			config: map[string]string{"kubernetes:infra_type": "aws", "certmgr:acme_dns": "route53", "eks:dns_zones": `["Z0123456789ABCDEFGHIJ"]`},
			want:   byRecord(map[string]any{"route53": map[string]any{}}),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dns := tt.config["certmgr:acme_dns"]
			if dns != "" {
				tt.config["certmgr:issuer"], tt.config["certmgr:acme_email"] = "acme", "ops@example.com"
				tt.config["certmgr:acme_dns_token"] = "hidden-token"
			}
			result := run(t, tt.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			if dns != "" && dns != "route53" {
				secret := result.One(t, "kubernetes:core/v1:Secret", "acme-dns-token")
				if !secret.IsSecret("stringData") || !result.One(t, issuerType, "mara").DependsOn("kubernetes:core/v1:Secret", "acme-dns-token") {
					t.Error("the token is plain, or the issuer does not wait for it")
				}
			} else if found := result.All("kubernetes:core/v1:Secret"); len(found) > 0 {
				t.Errorf("%d Secrets", len(found))
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
		more      map[string]string
		want      []string
	}{
		{"acme without an address", "aws", nil, []string{`"certmgr:acme_email"`, "is not set, but certmgr:issuer is acme"}},
		{"acme on kind", "kind", nil, []string{`"certmgr:issuer"`, "use self-signed", `"certmgr:acme_email"`}},
		{"records without a token", "kind", map[string]string{"certmgr:acme_dns": "cloudflare", "certmgr:acme_email": "ops@example.com"},
			[]string{`secret "certmgr:acme_dns_token"`, "runner secrets set certmgr:acme_dns_token"}},
		{"AWS elsewhere", "linode", map[string]string{"certmgr:acme_dns": "route53"}, []string{"route53, which works on EKS only"}},
		{"AWS without zones", "aws", map[string]string{"certmgr:acme_dns": "route53"}, []string{`"eks:dns_zones"`, "no right to change records"}},
		{"cert-manager of others", "cluster", map[string]string{"certmgr:acme_dns": "cloudflare", "certmgr:install": "false"},
			[]string{`"certmgr:acme_dns"`, "the cluster's own cert-manager"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			config := map[string]string{"kubernetes:infra_type": tt.infraType, "certmgr:issuer": "acme"}
			maps.Copy(config, tt.more)
			err := run(t, config).Err
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
