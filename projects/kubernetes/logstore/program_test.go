package logstore

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
)

const (
	releaseType = "kubernetes:helm.sh/v3:Release"
	secretType  = "kubernetes:core/v1:Secret"
)

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.Logstore(), Program: Program, Config: config,
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))},
		},
	})
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "kind"})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	result.CheckOutputs(t, projects.Logstore())
	for name, want := range map[string]any{
		"host": "opensearch-cluster-master.logstore.svc.cluster.local", "port": 9200, "username": "admin",
		"dashboards": "kubectl --namespace logstore port-forward service/opensearch-dashboards 5601:5601",
	} {
		if got := result.Export(t, name).Value; got != want {
			t.Errorf("output %s is %v, want %v", name, got, want)
		}
	}
	if diff := cmp.Diff([]string{"kubeconfig"}, result.References()); diff != "" {
		t.Errorf("references differ (-want +got):\n%s", diff)
	}
}

func TestPasswordIsKeptAndOnlyInTheSecret(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "aws"})
	stash := result.One(t, "pulumi:index:Stash", "admin-password")
	if diff := cmp.Diff([]string{"input"}, stash.IgnoreChanges); diff != "" {
		t.Errorf("the password would change in every run:\n%s", diff)
	}
	secret := result.One(t, secretType, credentials)
	password := result.Export(t, "password").Value
	if got := secret.Value("stringData", "password"); got != password || !secret.IsSecret("stringData", "password") {
		t.Errorf("the Secret holds %v, want the secret %v", got, password)
	}
	for _, key := range []string{"username", "cookie"} {
		if secret.Value("stringData", key) == nil {
			t.Errorf("the Secret has no %s, which OpenSearch Dashboards reads", key)
		}
	}
	for _, release := range result.All(releaseType) {
		if strings.Contains(release.Input("values").String(), password.(string)) {
			t.Errorf("the values of %s contain the password", release.Name)
		}
		if !release.DependsOn(secretType, credentials) {
			t.Errorf("%s does not wait for its Secret", release.Name)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any
	}{
		{
			name: "kind", config: map[string]string{"kubernetes:infra_type": "kind"},
			want: map[string]any{
				"singleNode": true, "replicas": 1.0, "opensearchJavaOpts": "-Xms512m -Xmx512m",
				"resources requests memory": "1024Mi", "sysctlInit": nil, "persistence storageClass": nil,
				"extraEnvs 1 name": "node.store.allow_mmap", "persistence size": "10Gi",
				"extraEnvs 0 valueFrom secretKeyRef name": "logstore-credentials",
				"persistence enableInitChown":             false,
			},
		},
		{
			name: "aws", config: map[string]string{"kubernetes:infra_type": "aws"},
			want: map[string]any{
				"singleNode": false, "replicas": 3.0, "opensearchJavaOpts": "-Xms1g -Xmx1g",
				"resources requests memory": "2048Mi", "sysctlInit enabled": true, "persistence storageClass": nil,
				"extraEnvs 1": nil, "persistence enableInitChown": true,
			},
		},
		{
			name: "linode names its storage class", config: map[string]string{"kubernetes:infra_type": "linode"},
			want: map[string]any{"persistence storageClass": "linode-block-storage"},
		},
		{
			name: "everything set", config: map[string]string{
				"kubernetes:infra_type": "linode", "kubernetes:storage_class": "fast", "logstore:replicas": "1",
				"logstore:heap": "3G", "logstore:storage_size": "50Gi",
			},
			want: map[string]any{
				"persistence storageClass": "fast", "singleNode": true, "opensearchJavaOpts": "-Xms3G -Xmx3G",
				"resources requests memory": "6144Mi", "persistence size": "50Gi",
			},
		},
		{
			name: "mirror", config: map[string]string{"kubernetes:infra_type": "aws", "kubernetes:mirror": "m.example.com/x"},
			want: map[string]any{
				"image repository": "m.example.com/x/opensearchproject/opensearch",
				"sysctlInit image": "m.example.com/x/library/busybox", "persistence image": "m.example.com/x/library/busybox",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, tt.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			release := result.One(t, releaseType, "opensearch")
			for path, want := range tt.want {
				got := release.Value(append([]string{"values"}, strings.Fields(path)...)...)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", path, diff)
				}
			}
		})
	}
}

func TestPodSecurity(t *testing.T) {
	t.Parallel()
	for _, release := range run(t, map[string]string{"kubernetes:infra_type": "kind"}).All(releaseType) {
		programtest.CheckRestricted(t, release)
	}
}

func TestDashboards(t *testing.T) {
	t.Parallel()
	release := run(t, map[string]string{"kubernetes:infra_type": "kind"}).One(t, releaseType, "opensearch-dashboards")
	for path, want := range map[string]any{
		"opensearchHosts": "https://opensearch-cluster-master:9200", "opensearchAccount secret": "logstore-credentials",
		"service type": "ClusterIP", "ingress": nil,
	} {
		if got := release.Value(append([]string{"values"}, strings.Fields(path)...)...); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if !release.DependsOn(releaseType, "opensearch") {
		t.Error("Dashboards does not wait for OpenSearch")
	}
}

func TestHeapRefusals(t *testing.T) {
	t.Parallel()
	for _, heap := range []string{"1", "g", "1k", "x1g", "0m", "-1g"} {
		result := run(t, map[string]string{"kubernetes:infra_type": "kind", "logstore:heap": heap})
		result.CheckRefused(t, "not a size such as 512m or 2g")
	}
}
