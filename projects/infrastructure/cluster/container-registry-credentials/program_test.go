package registrycredentials_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	registrycredentials "mara/projects/infrastructure/cluster/container-registry-credentials"
	"mara/projects/internal/programtest"
)

// TestProgram: the login is for the host alone, without the directory; a registry without a login gets an empty one.
func TestProgram(t *testing.T) {
	t.Parallel()
	for user, want := range map[string]string{
		"robot": `{"auths":{"registry.example.com":{"auth":"cm9ib3Q6aGlkZGVu","password":"hidden","username":"robot"}}}`,
		"":      `{"auths":{}}`,
	} {
		text := func(values map[string]any) resource.PropertyMap { return resource.NewPropertyMapFromMap(values) }
		registry := text(map[string]any{"address": "registry.example.com/team", "user": user})
		registry["password"] = resource.MakeSecret(resource.NewProperty("hidden"))
		result := programtest.Run(t, programtest.Case{
			Project: projects.ClusterRegistryCredentials(), Program: registrycredentials.Program,
			Config: map[string]string{"kubernetes:infra_type": "cluster"},
			Stacks: map[string]resource.PropertyMap{
				"kubeconfig":                   {"kubeconfig": resource.MakeSecret(resource.NewProperty("apiVersion: v1"))},
				"cluster-registry":             registry,
				"ingress-controller-namespace": text(map[string]any{"namespace": "nginx-ingress"}),
			},
		})
		if result.Err != nil {
			t.Fatal(result.Err)
		}
		secret := result.One(t, "kubernetes:core/v1:Secret", "ingress-controller-registry")
		if got := secret.Value("stringData", ".dockerconfigjson"); got != want {
			t.Errorf("the login is %v, want %s", got, want)
		}
		if !secret.IsSecret("stringData", ".dockerconfigjson") {
			t.Error("the login is not secret")
		}
		if diff := cmp.Diff([]string{"cluster-registry", "ingress-controller-namespace", "kubeconfig"}, result.References()); diff != "" {
			t.Errorf("references (-want +got):\n%s", diff)
		}
		result.CheckOutputs(t, projects.ClusterRegistryCredentials())
	}
}
