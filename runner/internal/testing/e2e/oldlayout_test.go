package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOldLayout: a backend with the layout of before 2023 is named in every command, with the command that upgrades it;
// adopt then finds what is there.
func TestOldLayout(t *testing.T) {
	t.Parallel()
	long(t)
	e, states := ownRepository(t)
	e.env = append(e.env, "PULUMI_BACKEND_URL=file://"+states)
	pulumi := filepath.Join(states, ".pulumi")
	if err := os.Rename(filepath.Join(pulumi, "stacks/net/dev.json"), filepath.Join(pulumi, "stacks/dev.json")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"meta.yaml", "stacks/net", "stacks/db", "history", "backups"} {
		if err := os.RemoveAll(filepath.Join(pulumi, name)); err != nil {
			t.Fatal(err)
		}
	}
	const text, hint = "the backend has the layout of before 2023", "state upgrade --yes"
	e.expect(1, "adopt", text, hint)
	if _, err := os.Stat(filepath.Join(e.root, "mara.yaml")); err == nil {
		t.Error("mara.yaml was written without the states")
	}
	e.write("mara.yaml", "environments: [dev]\nprojects:\n- {path: net, stackFile: own}\n- {path: db, stackFile: own, reads: net}\n")
	for _, command := range []string{"status -s dev", "stacks", "preview -s dev", "up -s dev --yes"} {
		e.expect(1, command, text, hint)
	}
	e.expect(3, "doctor -s dev", text, hint)
	e.expect(0, "pulumi net -s dev -- state upgrade --yes", "Upgraded 1 stack")
	if err := os.Remove(filepath.Join(e.root, "mara.yaml")); err != nil {
		t.Fatal(err)
	}
	e.expect(0, "adopt", "Environments: dev", "Backend: file://"+states)
	e.expect(0, "preview -s dev --only net --exit-code", "no changes")
}
