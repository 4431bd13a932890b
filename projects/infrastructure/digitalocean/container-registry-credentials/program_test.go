package registrycredentials_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	registrycredentials "mara/projects/infrastructure/digitalocean/container-registry-credentials"
	"mara/projects/internal/programtest"
)

const (
	loginType = "digitalocean:index/containerRegistryDockerCredentials:ContainerRegistryDockerCredentials"
	config    = `{"auths":{"registry.digitalocean.com":{"auth":"eDp5"}}}`
)

func stacks() map[string]resource.PropertyMap {
	text := func(name, value string) resource.PropertyMap {
		return resource.NewPropertyMapFromMap(map[string]any{name: value})
	}
	return map[string]resource.PropertyMap{
		"kubeconfig":                   {"kubeconfig": resource.MakeSecret(resource.NewProperty("apiVersion: v1"))},
		"digitalocean-registry":        text("registry_name", "mara-dev-1a2b3c4"),
		"ingress-controller-namespace": text("namespace", "nginx-ingress"),
	}
}

func run(t *testing.T, provider string, stacks map[string]resource.PropertyMap) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.DigitalOceanRegistryCredentials(), Program: registrycredentials.Program, Stacks: stacks,
		Config:  map[string]string{"kubernetes:infra_type": provider},
		Outputs: map[string]resource.PropertyMap{loginType: {"dockerCredentials": resource.MakeSecret(resource.NewProperty(config))}},
	})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	result := run(t, "digitalocean", stacks())
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	want := map[string]any{"registryName": "mara-dev-1a2b3c4", "write": false}
	if diff := cmp.Diff(want, result.One(t, loginType, "pull").Inputs.Mappable()); diff != "" {
		t.Errorf("login (-want +got):\n%s", diff)
	}
	secret := result.One(t, "kubernetes:core/v1:Secret", "ingress-controller-registry")
	if secret.Value("metadata", "name") != "ingress-controller-registry" ||
		secret.Value("metadata", "namespace") != "nginx-ingress" ||
		secret.Value("type") != "kubernetes.io/dockerconfigjson" ||
		secret.Value("stringData", ".dockerconfigjson") != config {
		t.Errorf("the Secret is %v", secret.Inputs.Mappable())
	}
	if !secret.IsSecret("stringData", ".dockerconfigjson") {
		t.Error("the login is not secret")
	}
	references := []string{"digitalocean-registry", "ingress-controller-namespace", "kubeconfig"}
	if diff := cmp.Diff(references, result.References()); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	result.CheckOutputs(t, projects.DigitalOceanRegistryCredentials())
}

func TestNoRegistry(t *testing.T) {
	t.Parallel()
	without := stacks()
	delete(without, "digitalocean-registry")
	if err := run(t, "digitalocean", without).Err; err == nil || !strings.Contains(err.Error(), `project "digitalocean-registry" has no output`) {
		t.Errorf("error %v", err)
	}
}
