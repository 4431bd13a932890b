package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConfigurationForOneRun reaches the programs, and the file stays as it is.
func TestConfigurationForOneRun(t *testing.T) {
	t.Parallel()
	eachEngine(t, []string{embedded}, func(t *testing.T, e *environment) {
		const file = "config:\n  kubernetes:infra_type: kind # mine\n  kind:workers: 1\n"
		e.write("config/pulumi/Pulumi.dev.yaml", file)
		e.simulate(0, "up", "--only", "kind-cluster", "--config", "kind:workers=3")
		if nodes := e.nodes(); len(nodes) != 4 {
			t.Errorf("--config kind:workers=3 made the nodes %q", nodes)
		}
		if got := e.read("config/pulumi/Pulumi.dev.yaml"); got != file {
			t.Errorf("the file became %q", got)
		}
		if r := e.run("config", "set", "kind:workers", "2"); r.code != 0 {
			t.Fatalf("exit code %d: %s", r.code, r.stderr)
		}
		if got := e.read("config/pulumi/Pulumi.dev.yaml"); got != strings.Replace(file, "1\n", "2\n", 1) {
			t.Errorf("the file became %q", got)
		}
		e.simulate(0, "up", "--only", "kind-cluster", "--allow", "cluster")
		if nodes := e.nodes(); len(nodes) != 3 {
			t.Errorf("kind:workers: 2 made the nodes %q", nodes)
		}
		e.checkStacks()
	})
}

// nodes returns the names of the cluster's nodes.
func (e *environment) nodes() []string {
	e.t.Helper()
	r := e.run("outputs", "kind-cluster", "node_names", "--simulate", "-o", "json")
	var names []string
	if err := json.Unmarshal([]byte(r.stdout), &names); err != nil || r.code != 0 {
		e.t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	return names
}

func (e *environment) read(name string) string {
	e.t.Helper()
	content, err := os.ReadFile(filepath.Join(e.root, name))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(content)
}

// checkStacks: the list of environments knows this one.
func (e *environment) checkStacks() {
	e.t.Helper()
	r := e.run("stacks", "--simulate", "-o", "json")
	var lines []struct {
		Stack, Provider, Operation, Result string
		Default, Configured                bool
		Deployed, Projects                 int
	}
	if err := json.Unmarshal([]byte(r.stdout), &lines); err != nil || r.code != 0 || len(lines) != 1 {
		e.t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	l := lines[0]
	if l.Stack != "dev" || l.Provider != "kind" || l.Operation != "up" || l.Result != "succeeded" || !l.Default || !l.Configured || l.Deployed != 1 || l.Projects != 14 {
		e.t.Errorf("got %+v", l)
	}
}
