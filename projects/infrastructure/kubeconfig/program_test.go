package kubeconfig

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
)

const sample = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443"}}]
users: [{name: u, user: {token: hidden-token}}]
contexts: [{name: kind-dev, context: {cluster: c, user: u}}]
current-context: kind-dev
`

func run(t *testing.T, infraType, project, kubeconfig string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.Kubeconfig(),
		Program: Program,
		Config:  map[string]string{"kubernetes:infra_type": infraType},
		Stacks: map[string]resource.PropertyMap{project: {
			"kubeconfig":   resource.MakeSecret(resource.NewProperty(kubeconfig)),
			"cluster_name": resource.NewProperty("dev"),
		}},
	})
}

// TestIdentity: the identity of a cluster that is there already is an output as long as it is configured.
func TestIdentity(t *testing.T) {
	t.Parallel()
	for infraType, project := range map[string]string{"cluster": "cluster-connection", "kind": "kind-cluster"} {
		for _, identity := range []string{"", "5b0c6f4e-5c0e-4a8e-9d0a-0c2b7f1d3e55"} {
			result := programtest.Run(t, programtest.Case{
				Project: projects.Kubeconfig(),
				Program: Program,
				Config:  map[string]string{"kubernetes:infra_type": infraType, "cluster:identity": identity},
				Stacks: map[string]resource.PropertyMap{project: {
					"kubeconfig": resource.MakeSecret(resource.NewProperty(sample)), "cluster_name": resource.NewProperty("dev"),
				}},
			})
			export, exported := result.Exports["identity"]
			if want := infraType == "cluster" && identity != ""; result.Err != nil || exported != want || want && export.Value != identity {
				t.Errorf("%s, %q: exported %v %v, %v", infraType, identity, exported, export, result.Err)
			}
		}
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	tests := []struct{ infraType, project, in string }{
		{"aws", "aws-eks", sample},
		{"linode", "linode-lke", base64.StdEncoding.EncodeToString([]byte(sample)) + "\n"},
		{"kind", "kind-cluster", sample},
	}
	for _, tt := range tests {
		t.Run(tt.infraType, func(t *testing.T) {
			t.Parallel()
			result := run(t, tt.infraType, tt.project, tt.in)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			want := map[string]programtest.Export{
				"kubeconfig":   {Value: sample, Known: true, Secret: true},
				"cluster_name": {Value: "dev", Known: true},
				"context":      {Value: "kind-dev", Known: true},
			}
			if diff := cmp.Diff(want, result.Exports); diff != "" {
				t.Errorf("outputs differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{tt.project}, result.References()); diff != "" {
				t.Errorf("references differ (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.Kubeconfig())
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, infraType, project, in, want string }{
		{"not base64", "linode", "linode-lke", "hidden-token!", `the kubeconfig of project "linode-lke": is neither a kubeconfig nor base64 of one`},
		{"not YAML", "kind", "kind-cluster", "a: b: hidden-token", `the kubeconfig of project "kind-cluster": is not valid YAML`},
		{"no user", "aws", "aws-eks", "clusters: [{name: c}]", "has no cluster or no user"},
		{"no context", "kind", "kind-cluster", strings.ReplaceAll(sample, "current-context: kind-dev", "current-context: other"),
			`has no context for its current-context "other"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := run(t, tt.infraType, tt.project, tt.in).Err
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want it to contain %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "hidden-token") {
				t.Errorf("the error shows what is in the kubeconfig: %v", err)
			}
		})
	}
}

func TestPreviewBeforeTheClusterExists(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{
		Project: projects.Kubeconfig(), Program: Program, Preview: true,
		Config: map[string]string{"kubernetes:infra_type": "kind"},
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	for name, export := range result.Exports {
		if export.Known {
			t.Errorf("output %s is known: %v", name, export.Value)
		}
	}
}
