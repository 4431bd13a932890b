package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects"
	"mara/projects/model"
)

// TestPulumiUp deploys a project that needs no cloud, in its directory of a
// checkout, with the stock CLI, which finds the host on the PATH, and with the
// engine inside run by hand, which finds it beside itself. Under test are the
// manifests, and where configuration and state are found.
func TestPulumiUp(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"pulumi", "mara-engine"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t, engine)
			c.pulumi(projects.KindCluster(), deployment(t), "stack", "init", "dev")
			c.pulumi(projects.KindCluster(), deployment(t), "stack", "import")
			c.pulumi(projects.Kubeconfig(), "", "stack", "init", "dev")
			c.pulumi(projects.Kubeconfig(), "", "up", "--yes")

			var outputs map[string]string
			text := c.pulumi(projects.Kubeconfig(), "", "stack", "output", "--json")
			if err := json.Unmarshal([]byte(text), &outputs); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"cluster_name": "mara-dev", "context": "kind-mara-dev", "kubeconfig": "[secret]"}
			if diff := cmp.Diff(want, outputs); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			checkStacks(t, c.pulumi(projects.Kubeconfig(), "", "stack", "ls", "--all", "--json", "--fully-qualify-stack-names"))
			file, err := os.ReadFile(filepath.Join(c.root, "config/pulumi/Pulumi.dev.yaml"))
			if err != nil || !strings.Contains(string(file), "encryptionsalt") {
				t.Errorf("the stack file in config/pulumi was not used: %v\n%s", err, file)
			}
		})
	}
}

// checkStacks holds the names of the stacks in the state: the runner's.
func checkStacks(t *testing.T, text string) {
	t.Helper()
	var stacks []struct{ Name string }
	if err := json.Unmarshal([]byte(text), &stacks); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, stack := range stacks {
		names[stack.Name] = true
	}
	want := map[string]bool{"organization/kind-cluster/dev": true, "organization/kubeconfig/dev": true}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("stacks (-want +got):\n%s", diff)
	}
}

// checkout is a root with the manifests of all projects.
type checkout struct {
	t          *testing.T
	root, home string
	engine     string // its program
	path       string // the variable PATH
}

// built returns a program that make has built.
func built(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("bin/%s is not built: run `make build tools` first (%v)", name, err)
	}
	return path
}

func newCheckout(t *testing.T, engine string) *checkout {
	t.Helper()
	c := &checkout{t: t, root: t.TempDir(), home: t.TempDir(), engine: built(t, engine), path: os.Getenv("PATH")}
	if engine == "pulumi" { // the other finds it beside itself
		if err := os.Symlink(built(t, "pulumi-language-mara"), filepath.Join(c.home, "pulumi-language-mara")); err != nil {
			t.Fatal(err)
		}
		c.path = c.home + string(os.PathListSeparator) + c.path
	}
	c.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: kind\n")
	c.write("state/.keep", "")
	for _, project := range projects.All() {
		manifest, err := os.ReadFile(filepath.Join("..", project.Path, "Pulumi.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		c.write(filepath.Join("projects", project.Path, "Pulumi.yaml"), string(manifest))
	}
	return c
}

func (c *checkout) write(name, content string) {
	c.t.Helper()
	path := filepath.Join(c.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// pulumi runs a Pulumi command in a project's directory and returns its output.
func (c *checkout) pulumi(project model.Project, input string, args ...string) string {
	c.t.Helper()
	command := exec.CommandContext(c.t.Context(), c.engine, append([]string{"--non-interactive"}, args...)...)
	command.Dir = filepath.Join(c.root, "projects", project.Path)
	command.Env = []string{
		"HOME=" + c.home, "PATH=" + c.path, "TMPDIR=" + os.TempDir(),
		"PULUMI_HOME=" + filepath.Join(c.home, "pulumi"), "PULUMI_BACKEND_URL=file://" + filepath.Join(c.root, "state"),
		"PULUMI_STACK=dev", "PULUMI_CONFIG_PASSPHRASE=secret", "PULUMI_SKIP_UPDATE_CHECK=true",
	}
	command.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		c.t.Fatalf("pulumi %s in %s: %v\n%s%s", strings.Join(args, " "), project.Path, err, &stdout, &stderr)
	}
	return stdout.String()
}

// deployment returns the state of a deployed cluster.
func deployment(t *testing.T) string {
	t.Helper()
	kubeconfig := `{"clusters": [{"name": "c"}], "users": [{"name": "u"}],
		"contexts": [{"name": "kind-mara-dev"}], "current-context": "kind-mara-dev"}`
	content, err := json.Marshal(map[string]any{"version": 3, "deployment": map[string]any{
		"manifest": map[string]any{"time": "2026-11-20T12:00:00Z", "magic": "", "version": ""},
		"resources": []any{map[string]any{
			"urn":  "urn:pulumi:dev::kind-cluster::pulumi:pulumi:Stack::kind-cluster-dev",
			"type": "pulumi:pulumi:Stack", "custom": false,
			"outputs": map[string]any{"kubeconfig": kubeconfig, "cluster_name": "mara-dev"},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
