package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mara/projects"
	"mara/runner/internal/containers"
	"mara/runner/internal/kindprovider/kindtest"
)

// TestKindForReal stands up a cluster with Kubernetes in it, and a registry that
// it pulls from, where the images for that are on this machine.
func TestKindForReal(t *testing.T) {
	docker := kindtest.Docker(t)
	nodeImage := imageHere(t, docker, "kind:node_image", "E2E_NODE_IMAGE")
	registryImage := imageHere(t, docker, "kind:registry_image", "E2E_REGISTRY_IMAGE")
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=test", "DOCKER_HOST="+os.Getenv("DOCKER_HOST"), "PULUMI_HOME="+t.TempDir())
	e.write("config/pulumi/environment", "PULUMI_STACK=test\n")
	registryPort := freePort(t)
	e.write("config/pulumi/Pulumi.test.yaml", fmt.Sprintf(
		"config:\n  kind:node_image: %q\n  kind:registry_image: %q\n  kind:http_port: %d\n  kind:https_port: %d\n  kind:registry_port: %d\n",
		nodeImage, registryImage, freePort(t), freePort(t), registryPort))
	before := kindtest.DockerTraces(t, docker)
	t.Cleanup(func() {
		clearAway(t, docker)
		if after := kindtest.DockerTraces(t, docker); strings.Join(after, " ") != strings.Join(before, " ") {
			t.Errorf("in docker are %v, before there were %v", after, before)
		}
	})
	const only = "kind-cluster,kind-registry,kubeconfig"
	defer e.run("destroy", "--yes", "-o", "json") // a cleanup's context has ended
	if r := e.run("up", "-p", "kind", "--only", only, "--yes", "-o", "json"); r.code != 0 {
		t.Fatalf("up: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	checkKubernetes(t, docker, fmt.Sprintf("localhost:%d/mara-test-app:1", registryPort))
	if r := e.run("up", "--only", only, "--yes", "-o", "json"); r.code != 0 || len(changed(decode(t, r.stdout))) > 0 {
		t.Errorf("a second up: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if r := e.run("destroy", "--yes", "-o", "json"); r.code != 0 {
		t.Fatalf("destroy: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if content, err := os.ReadFile(filepath.Join(e.home, ".kube", "config")); err == nil && strings.Contains(string(content), "127.0.0.1") {
		t.Errorf("the cluster is still in the kubeconfig:\n%s", content)
	}
}

// imageHere is an image that is on this machine: the one that a variable names,
// else the default, by its digest or by its tag alone. The test is skipped where
// there is none.
func imageHere(t *testing.T, docker *containers.Runtime, key, variable string) string {
	t.Helper()
	wanted := defaultOf(t, key)
	tag, _, _ := strings.Cut(wanted, "@")
	for _, image := range []string{os.Getenv(variable), wanted, tag} {
		if image == "" {
			continue
		}
		if found, err := docker.HasImage(t.Context(), image); err == nil && found {
			return image
		}
	}
	t.Skipf("the image is not on this machine (docker pull %s, or name another with %s)", wanted, variable)
	return ""
}

// checkKubernetes has the cluster tell that it is ready, and pull an image from
// the registry.
func checkKubernetes(t *testing.T, docker *containers.Runtime, image string) {
	t.Helper()
	const node = "mara-test-control-plane"
	for _, command := range []string{
		"kubectl wait --for=condition=Ready nodes --all --timeout=120s",
		"kubectl get configmap --namespace=kube-public local-registry-hosting",
	} {
		if output, err := docker.Exec(t.Context(), node, nil, strings.Fields(command)...); err != nil {
			t.Errorf("%s: %v\n%s", command, err, output)
		}
	}
	kindtest.Image(t, image, []string{"/init"}, map[string]kindtest.File{"init": {Content: []byte("x")}})
	if output, err := exec.CommandContext(t.Context(), "docker", "push", image).CombinedOutput(); err != nil {
		t.Fatalf("pushing: %v\n%s", err, output)
	}
	if output, err := docker.Exec(t.Context(), node, nil, "crictl", "pull", image); err != nil {
		t.Errorf("pulling: %v\n%s", err, output)
	}
}

// defaultOf is the default of one of kind's keys.
func defaultOf(t *testing.T, key string) string {
	t.Helper()
	for _, project := range []projects.Project{projects.KindCluster(), projects.KindRegistry()} {
		for _, declared := range project.Keys {
			if declared.Name == key {
				return fmt.Sprint(declared.Default)
			}
		}
	}
	t.Fatalf("there is no key %s", key)
	return ""
}
