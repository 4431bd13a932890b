package registrycredentials_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	registrycredentials "mara/projects/infrastructure/linode/container-registry-credentials"
	"mara/projects/internal/programtest"
)

func stacks() map[string]resource.PropertyMap {
	text := func(values map[string]any) resource.PropertyMap { return resource.NewPropertyMapFromMap(values) }
	harbor := text(map[string]any{"harbor_hostname": "192-0-2-1.ip.linodeusercontent.com", "harbor_user": "admin"})
	harbor["harbor_password"] = resource.MakeSecret(resource.NewProperty("harbor-password"))
	return map[string]resource.PropertyMap{
		"kubeconfig":                   {"kubeconfig": resource.MakeSecret(resource.NewProperty("apiVersion: v1"))},
		"linode-harbor":                harbor,
		"ingress-controller-namespace": text(map[string]any{"namespace": "nginx-ingress"}),
	}
}

func run(t *testing.T, config map[string]string, stacks map[string]resource.PropertyMap) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.LinodeRegistryCredentials(), Program: registrycredentials.Program, Config: config, Stacks: stacks,
	})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "linode"}, stacks())
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	secret := result.One(t, "kubernetes:core/v1:Secret", "ingress-controller-registry")
	if secret.Value("metadata", "name") != "ingress-controller-registry" ||
		secret.Value("metadata", "namespace") != "nginx-ingress" ||
		secret.Value("type") != "kubernetes.io/dockerconfigjson" {
		t.Errorf("the Secret is %v", secret.Inputs.Mappable())
	}
	// The login in base64 is that of admin:harbor-password.
	want := `{"auths":{"192-0-2-1.ip.linodeusercontent.com":` +
		`{"auth":"YWRtaW46aGFyYm9yLXBhc3N3b3Jk","password":"harbor-password","username":"admin"}}}`
	if got := secret.Value("stringData", ".dockerconfigjson"); got != want {
		t.Errorf("the login is %v, want %s", got, want)
	}
	if !secret.IsSecret("stringData", ".dockerconfigjson") {
		t.Error("the login is not secret")
	}
	references := []string{"ingress-controller-namespace", "kubeconfig", "linode-harbor"}
	if diff := cmp.Diff(references, result.References()); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	result.CheckOutputs(t, projects.LinodeRegistryCredentials())
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	withoutHarbor := stacks()
	delete(withoutHarbor, "linode-harbor")
	tests := []struct {
		name   string
		config map[string]string
		stacks map[string]resource.PropertyMap
		want   string
	}{
		{"no provider", nil, stacks(), `"kubernetes:infra_type"`},
		{"no Harbor", map[string]string{"kubernetes:infra_type": "linode"}, withoutHarbor, `project "linode-harbor" has no output`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config, test.stacks)
			result.CheckRefused(t, test.want)
		})
	}
}
