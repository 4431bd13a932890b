package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"mara/runner/internal/testing/kindtest"
)

// TestDockerImage runs the image of `make image` in a container that may do nothing: no
// network, no capability, nothing to write to but its home and /tmp.
func TestDockerImage(t *testing.T) {
	image := os.Getenv("E2E_WORKSPACE_IMAGE")
	if image == "" {
		t.Skip("E2E_WORKSPACE_IMAGE names no image; `make e2e-real` makes one")
	}
	docker := kindtest.Docker(t)
	inside := func(script string) string {
		t.Helper()
		output, err := exec.CommandContext(t.Context(), "docker", "run", "--rm", "--network=none", "--read-only", "--tmpfs=/tmp", "--tmpfs=/home/mara:uid=1000",
			"--cap-drop=ALL", "--security-opt=no-new-privileges", "--env=PULUMI_CONFIG_PASSPHRASE=test", image, "sh", "-e", "-c", script).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, output)
		}
		return string(output)
	}
	run := realRun{Command: "make e2e-real", Projects: []string{}}
	for _, part := range []struct{ name, script, want string }{
		{"who runs", "busybox id", "uid=1000(mara) gid=1000(mara)"},
		{"runner version", "runner version", "runner "},
		{"an environment from nothing to nothing, simulated", `runner init /tmp/e >/dev/null && cd /tmp/e
			runner up -p kind -s dev --simulate --yes --generate-secrets --simulate-speed 1000
			runner destroy -s dev --simulate --yes --simulate-speed 1000`, "destroy succeeded"},
		{"a project in YAML with the stock CLI", `mkdir /tmp/p && cd /tmp/p && mkdir state
			printf 'name: p\nruntime: yaml\noutputs: {greeting: hello}\n' >Pulumi.yaml
			export PULUMI_BACKEND_URL=file:///tmp/p/state
			pulumi stack init dev && pulumi up --yes --skip-preview && pulumi stack output greeting`, "hello"},
	} {
		t.Run(part.name, func(t *testing.T) {
			if output := inside(part.script); !strings.Contains(output, part.want) {
				t.Errorf("it says\n%s", output)
			}
		})
		run.Parts = append(run.Parts, part.name)
	}
	info, err := docker.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run.Versions = map[string]string{"docker": info.Version}
	(&realKind{}).record(t, run)
}
