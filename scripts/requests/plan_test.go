package requests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// resource is a resource in a saved plan.
type resource struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Inputs json.RawMessage `json:"inputs"`
}

// settings returns flags that set values of the configuration.
func settings(values []string) (flags []string) {
	for _, value := range values {
		flags = append(flags, "--config", value)
	}
	return flags
}

// plan previews an environment on simulated clouds, and returns the resources that it would create.
func plan(t *testing.T, args ...string) []resource {
	t.Helper()
	runner, err := filepath.Abs("../../bin/runner")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(runner); err != nil {
		t.Fatalf("bin/runner is not built: run `make build` first (%v)", err)
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "config", "pulumi"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), runner, append([]string{"preview", "--simulate", "--save-plan", "plan.json"}, args...)...)
	cmd.Dir, cmd.Env = root, []string{"HOME=" + root, "PATH=" + os.Getenv("PATH"), "CI=true"}
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, output)
	}
	content, err := os.ReadFile(filepath.Join(root, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Projects []struct {
			Steps []resource `json:"steps"`
		} `json:"projects"`
	}
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	var all []resource
	for _, project := range document.Projects {
		all = append(all, project.Steps...)
	}
	return all
}
