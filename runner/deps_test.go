package main_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNoCloudSDK holds that the runner compiles and starts without the SDKs of
// clouds, which take very long: the programs and the clients of the clouds are
// in pulumi-language-mara, and the types of simulated resources in
// projects/schemas. Helm, which renders charts for mirrors, brings the types of
// the Kubernetes API.
func TestNoCloudSDK(t *testing.T) {
	t.Parallel()
	ofClients := clientSDKs(t)
	programs := regexp.MustCompile(`^(github\.com/pulumi/pulumi-[a-z-]+/sdk|sigs\.k8s\.io/kind)(/|$)`)
	for _, linked := range list(t, "-deps", ".") {
		if programs.MatchString(linked) || slices.Contains(ofClients, linked) {
			t.Errorf("runner links %s", linked)
		}
	}
}

// TestNoTypesOfKubernetes holds that the programs declare objects of Kubernetes by their manifests: the types that the SDK
// has for them take minutes to compile.
func TestNoTypesOfKubernetes(t *testing.T) {
	t.Parallel()
	const sdk = "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	for _, linked := range list(t, "-deps", "../projects/pulumi-language-mara") {
		if strings.HasPrefix(linked, sdk) && linked != sdk && linked != sdk+"/utilities" {
			t.Errorf("the programs link %s", linked)
		}
	}
}

// TestOnlyCloudAsksClouds: what asks clouds is in providers/cloud. The provider that stands in for a cloud's own in
// tests does what that one does.
func TestOnlyCloudAsksClouds(t *testing.T) {
	t.Parallel()
	ofClients := clientSDKs(t)
	for _, line := range list(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "mara/...") {
		importer, imports, _ := strings.Cut(line, " ")
		if strings.HasPrefix(importer, "mara/providers/cloud/") ||
			strings.HasPrefix(importer, "mara/runner/internal/testing/cloudtest/") {
			continue
		}
		for _, imported := range strings.Fields(imports) {
			if slices.Contains(ofClients, imported) {
				t.Errorf("%s imports %s", importer, imported)
			}
		}
	}
}

// TestCore holds that the core knows no feature, no command, no cloud and no built-in project: what there is of them
// reaches it as values. Of the catalogue it has the types alone.
func TestCore(t *testing.T) {
	t.Parallel()
	const model = "mara/projects/model"
	for _, linked := range list(t, "-deps", "./internal/core/...") {
		for _, unknown := range []string{
			"mara/providers", "mara/projects", "mara/runner/internal/feature", "mara/runner/internal/cli", "mara/runner/internal/wire",
		} {
			isBelow := linked == unknown || strings.HasPrefix(linked, unknown+"/")
			if isBelow && linked != model && !strings.HasPrefix(linked, model+"/") {
				t.Errorf("the core links %s", linked)
			}
		}
	}
}

// clientSDKs returns the third-party packages that query the clouds.
func clientSDKs(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, line := range list(t, "-f", `{{join .Imports " "}}`, "mara/providers/cloud/...") {
		for _, imported := range strings.Fields(line) {
			host, _, _ := strings.Cut(imported, "/")
			if strings.Contains(host, ".") && !strings.HasPrefix(imported, "golang.org/x/") {
				found = append(found, imported)
			}
		}
	}
	if len(found) == 0 {
		t.Fatal("the clients of the clouds import nothing")
	}
	return found
}

// list returns the output of `go list`, by lines.
func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
