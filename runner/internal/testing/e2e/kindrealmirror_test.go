package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/testing/kindtest"
)

// TestRealMirror fills a real registry that asks for a login, with what docker
// itself keeps of one, and has docker pull from it.
func TestRealMirror(t *testing.T) {
	r := newRealKind(t, "test") // for what is on this machine: no cluster is made
	r.leavesNothing(t)
	const container = "mara-test-private"
	host := fmt.Sprintf("localhost:%d", r.registry)
	dir := t.TempDir()
	// htpasswd -nbBC4 filler Op3n-sesame!
	if err := os.WriteFile(filepath.Join(dir, "htpasswd"), []byte(mirrorUser+":$2a$04$Hl1/IHSr4k6LKHfYV3Qh5eR83s0f0zH0w7HhnrOvowiLMQJ5Cr2z2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer r.lose(container)
	runDocker(t, "create", "--name", container, "--publish", fmt.Sprintf("127.0.0.1:%d:5000", r.registry), "--env", "REGISTRY_AUTH=htpasswd",
		"--env", "REGISTRY_AUTH_HTPASSWD_REALM=mirror", "--env", "REGISTRY_AUTH_HTPASSWD_PATH=/tmp/htpasswd", r.images.registry)
	runDocker(t, "cp", filepath.Join(dir, "htpasswd"), container+":/tmp/htpasswd")
	runDocker(t, "start", container)
	r.eventually("401 Unauthorized", func() string {
		response, err := http.Get("http://" + host + "/v2/")
		if err != nil {
			return err.Error()
		}
		_ = response.Body.Close()
		return response.Status
	})

	m := newPrivateMirror(t, host, func(source string) {
		image := source + "/tools/registry:3"
		kindtest.Image(t, image, []string{"/init"}, map[string]kindtest.File{"init": {Content: []byte("x")}})
		runDocker(t, "push", image)
	})
	docker := func(args ...string) error {
		cmd := exec.CommandContext(t.Context(), "docker", append([]string{"--config", m.login}, args...)...)
		cmd.Stdin = strings.NewReader(mirrorPassword)
		output, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("docker %s: %w\n%s", strings.Join(args, " "), err, output)
		}
		return nil
	}
	m.life(func() {
		if err := docker("login", "--username", mirrorUser, "--password-stdin", host); err != nil {
			t.Fatal(err)
		}
	})
	pulled := host + "/mirror/tools/registry:3"
	if err := docker("pull", pulled); err != nil {
		t.Error(err)
	}
	runDocker(t, "image", "rm", pulled)
	if err := docker("logout", host); err != nil {
		t.Error(err)
	}
	if err := docker("pull", pulled); err == nil {
		t.Error("docker has pulled without a login")
	}
	info, err := r.docker.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	said, err := r.docker.Exec(t.Context(), container, nil, "registry", "--version")
	version := strings.Fields(said)
	if err != nil || len(version) == 0 {
		t.Fatalf("the registry does not say its version: %v", err)
	}
	release, _, _ := strings.Cut(version[len(version)-1], "+")
	r.record(t, realRun{
		Command: "make e2e-real", Projects: []string{}, Versions: map[string]string{"docker": info.Version, "registry": release},
		Parts: []string{"`runner mirror sync` to a registry that asks for a login, refused, interrupted and resumed", "`runner mirror check` there"},
	})
}
