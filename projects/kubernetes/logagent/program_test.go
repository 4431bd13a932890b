package logagent

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
	result := programtest.Run(t, programtest.Case{
		Project: projects.LogAgent(), Program: Program, Config: config,
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))},
			"logstore": {
				"host": resource.NewProperty("opensearch.example"), "port": resource.NewProperty(9200.0),
				"username": resource.NewProperty("admin"),
				"password": resource.MakeSecret(resource.NewProperty("hidden-password")),
			},
		},
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	return result
}

func TestProgram(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "kind"})
	result.CheckOutputs(t, projects.LogAgent())
	if got := result.Export(t, "destination").Value; got != "https://opensearch.example:9200" {
		t.Errorf("destination %v", got)
	}
	if diff := cmp.Diff([]string{"kubeconfig", "logstore"}, result.References()); diff != "" {
		t.Errorf("references differ (-want +got):\n%s", diff)
	}
	secret := result.One(t, secretType, credentials)
	if got := secret.Value("stringData", "password"); got != "hidden-password" || !secret.IsSecret("stringData", "password") {
		t.Errorf("password %v, secret %v", got, secret.IsSecret("stringData", "password"))
	}
	if got := secret.Value("metadata", "namespace"); got != "logagent" {
		t.Errorf("the Secret is in namespace %v", got)
	}
	if !result.One(t, releaseType, "fluent-bit").DependsOn(secretType, credentials) {
		t.Error("the release does not wait for its Secret")
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	release := run(t, map[string]string{"kubernetes:infra_type": "aws", "kubernetes:mirror": "m.example.com"}).
		One(t, releaseType, "fluent-bit")
	want := []any{
		map[string]any{"name": "LOGSTORE_HOST", "value": "opensearch.example"},
		map[string]any{"name": "LOGSTORE_PORT", "value": "9200"},
		map[string]any{"name": "LOGSTORE_USERNAME", "valueFrom": map[string]any{
			"secretKeyRef": map[string]any{"name": "logstore-credentials", "key": "username"},
		}},
		map[string]any{"name": "LOGSTORE_PASSWORD", "valueFrom": map[string]any{
			"secretKeyRef": map[string]any{"name": "logstore-credentials", "key": "password"},
		}},
	}
	if diff := cmp.Diff(want, release.Value("values", "env")); diff != "" {
		t.Errorf("environment differs (-want +got):\n%s", diff)
	}
	if got := release.Value("values", "image", "repository"); got != "m.example.com/fluent/fluent-bit" {
		t.Errorf("image %v", got)
	}
	security := map[string]any{"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}}}
	if diff := cmp.Diff(security, release.Value("values", "securityContext")); diff != "" {
		t.Errorf("the container's security context differs (-want +got):\n%s", diff)
	}
	if strings.Contains(release.Input("values").String(), "hidden-password") {
		t.Error("the values, and so a ConfigMap, contain the password")
	}
	text, _ := release.Value("values", "config", "outputs").(string)
	for _, line := range []string{"Name opensearch", "Suppress_Type_Name On", "HTTP_Passwd ${LOGSTORE_PASSWORD}", "tls On"} {
		if strings.Count(text, line+"\n") != 2 {
			t.Errorf("each of the two outputs needs the line %q:\n%s", line, text)
		}
	}
}
