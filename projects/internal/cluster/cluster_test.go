package cluster_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/programtest"
	"mara/projects/internal/settings"
)

const releaseType = "kubernetes:helm.sh/v3:Release"

// program releases one chart with the keys of the certmgr project.
func program(ctx *pulumi.Context) error {
	c, err := cluster.Connect(ctx, settings.New(ctx, projects.CertManager()))
	if err != nil {
		return err
	}
	namespace, err := c.Namespace(ctx, "somewhere")
	if err != nil {
		return err
	}
	ctx.Export("image", pulumi.String(c.Image("quay.io/jetstack/x:v1")))
	ctx.Export("registry", pulumi.String(c.Registry("quay.io")))
	_, err = c.Release(ctx, cluster.Chart{
		Release: "cert-manager", Chart: "cert-manager", Group: "certmgr", Namespace: namespace,
		Values: cluster.Values{
			"replicaCount": 2,
			"crds":         cluster.Values{"enabled": true, "keep": pulumi.Bool(true).ToBoolOutput()},
			"hosts":        []string{"a", "b"},
			"list":         []cluster.Values{{"x": 1.5}},
		},
	})
	return err
}

func run(t *testing.T, config map[string]string, preview bool) programtest.Result {
	t.Helper()
	kubeconfig := resource.PropertyMap{"kubeconfig": resource.MakeSecret(resource.NewProperty("a kubeconfig"))}
	c := programtest.Case{
		Project: projects.CertManager(), Program: program, Config: config, Preview: preview,
		Stacks: map[string]resource.PropertyMap{"kubeconfig": kubeconfig},
	}
	if preview {
		c.Stacks = nil
	}
	result := programtest.Run(t, c)
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	return result
}

func TestConnect(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "kind"}, false)
	provider := result.One(t, "pulumi:providers:kubernetes", "cluster")
	if !provider.IsSecret("kubeconfig") {
		t.Error("the kubeconfig is not secret")
	}
	if got := provider.Value("enableServerSideApply"); got != true {
		t.Errorf("enableServerSideApply is %v", got)
	}
	want := map[string]any{
		"name": "somewhere",
		"labels": map[string]any{
			"app.kubernetes.io/managed-by": "mara", "mara.dev/project": "certmgr", "mara.dev/stack": "dev",
			"pod-security.kubernetes.io/enforce": "restricted",
		},
	}
	if diff := cmp.Diff(want, result.One(t, "kubernetes:core/v1:Namespace", "somewhere").Value("metadata")); diff != "" {
		t.Errorf("namespace differs (-want +got):\n%s", diff)
	}
}

// TestIdentity: the provider of a cluster that is there already has its identity, if one is configured.
func TestIdentity(t *testing.T) {
	t.Parallel()
	const identity = "5b0c6f4e-5c0e-4a8e-9d0a-0c2b7f1d3e55"
	for _, tt := range []struct {
		infraType, identity string
		want                any
	}{{"cluster", identity, identity}, {"cluster", "", nil}, {"kind", identity, nil}} {
		config := map[string]string{"kubernetes:infra_type": tt.infraType}
		if tt.identity != "" {
			config["cluster:identity"] = tt.identity
		}
		provider := run(t, config, false).One(t, "pulumi:providers:kubernetes", "cluster")
		if got := provider.Value("clusterIdentifier"); got != tt.want {
			t.Errorf("%s, %q: clusterIdentifier is %v", tt.infraType, tt.identity, got)
		}
	}
}

func TestPreviewBeforeTheClusterExists(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "kind"}, true)
	provider := result.One(t, "pulumi:providers:kubernetes", "cluster")
	if kubeconfig := provider.Input("kubeconfig"); !kubeconfig.IsNull() {
		t.Errorf("the kubeconfig is %v, want it unknown", kubeconfig) // mocks leave unknown inputs out
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	ours := map[string]any{
		"replicaCount": 2.0,
		"crds":         map[string]any{"enabled": true, "keep": true},
		"hosts":        []any{"a", "b"},
		"list":         []any{map[string]any{"x": 1.5}},
	}
	changed := map[string]any{
		"crds":  map[string]any{"enabled": true, "keep": false},
		"hosts": []any{"c"},
		"list":  []any{map[string]any{"x": 1.5}},
		"more":  map[string]any{"a": "b"},
	}
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any
	}{
		{
			name: "defaults",
			want: map[string]any{
				"chart": "oci://quay.io/jetstack/charts/cert-manager", "version": "v1.21.1", "timeout": 600.0, "values": ours,
			},
		},
		{
			name: "classic repository, version, timeout",
			config: map[string]string{
				"certmgr:chart_repository": "https://charts.jetstack.io/", "certmgr:chart_version": "v1.20.0",
				"certmgr:helm_timeout": "30",
			},
			want: map[string]any{
				"chart": "cert-manager", "repositoryOpts": map[string]any{"repo": "https://charts.jetstack.io"},
				"version": "v1.20.0", "timeout": 30.0, "values": ours,
			},
		},
		{
			name:   "user's values",
			config: map[string]string{"certmgr:values": `{"replicaCount":null,"crds":{"keep":false},"hosts":["c"],"more":{"a":"b"}}`},
			want: map[string]any{
				"chart": "oci://quay.io/jetstack/charts/cert-manager", "version": "v1.21.1", "timeout": 600.0, "values": changed,
			},
		},
		{
			name:   "mirror",
			config: map[string]string{"kubernetes:mirror": "registry.example.com/mirror/"},
			want: map[string]any{
				"chart": "oci://registry.example.com/mirror/charts/cert-manager", "version": "v1.21.1", "timeout": 600.0,
				"values": ours,
			},
		},
		{
			name: "a repository of its own wins over the mirror",
			config: map[string]string{
				"kubernetes:mirror": "registry.example.com", "certmgr:chart_repository": "oci://other.example.com/charts",
			},
			want: map[string]any{
				"chart": "oci://other.example.com/charts/cert-manager", "version": "v1.21.1", "timeout": 600.0, "values": ours,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			config := map[string]string{"kubernetes:infra_type": "kind"}
			for key, value := range tt.config {
				config[key] = value
			}
			release := run(t, config, false).One(t, releaseType, "cert-manager")
			for key, value := range map[string]any{
				"name": "cert-manager", "namespace": "somewhere", "compat": "true", "waitForJobs": true,
				"cleanupOnFail": true, "maxHistory": 5.0,
			} {
				tt.want[key] = value
			}
			if diff := cmp.Diff(tt.want, release.Value()); diff != "" {
				t.Errorf("release differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMirrorOfImages(t *testing.T) {
	t.Parallel()
	tests := []struct{ mirror, image, registry string }{
		{"", "quay.io/jetstack/x:v1", "quay.io"},
		{"registry.example.com/m", "registry.example.com/m/jetstack/x:v1", "registry.example.com/m"},
	}
	for _, tt := range tests {
		config := map[string]string{"kubernetes:infra_type": "kind", "kubernetes:mirror": tt.mirror}
		result := run(t, config, false)
		if got := result.Export(t, "image").Value; got != tt.image {
			t.Errorf("mirror %q: image %q, want %q", tt.mirror, got, tt.image)
		}
		if got := result.Export(t, "registry").Value; got != tt.registry {
			t.Errorf("mirror %q: registry %q, want %q", tt.mirror, got, tt.registry)
		}
	}
}

func TestEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{
		Project: projects.CertManager(), Program: program,
		Config: map[string]string{"certmgr:helm_timeout": "soon", "certmgr:values": "x"},
	})
	for _, want := range []string{`"kubernetes:infra_type"`, strings.Join(programtest.Providers(), ", "), `"certmgr:helm_timeout"`, `"certmgr:values"`} {
		result.CheckRefused(t, want)
	}
	if len(result.Resources) != 0 {
		t.Errorf("declared %v before the settings were right", result.Names())
	}
}
