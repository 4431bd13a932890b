package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mara/runner/internal/testing/postgrestest"
)

// postgresConnections is how many connections the server of a test takes: hardly more than a runner may hold.
const postgresConnections = 24

// TestStatesInPostgres takes a fleet with its states in PostgreSQL through its life. The server takes hardly more
// connections than a runner may hold.
func TestStatesInPostgres(t *testing.T) {
	t.Parallel()
	long(t)
	server := postgrestest.Start(t, freePort(t), postgresConnections)
	life{place: place{backend: server.Backend}, again: server.Backend + "&table=again", needle: "needle-of-the-database"}.test(t)
	recordBackend(t, "make test", server.Versions(), lifeParts(12)...)
}

// TestListInPostgres: the list of stacks that the engine makes with one query is the one that Pulumi makes.
func TestListInPostgres(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t, freePort(t), postgresConnections)
	e := reliable(t, place{backend: server.Backend})
	e.succeed("up", "--yes")
	server.Multiply("pulumi_state", "a", "dev", []string{"one", "two.json", "three"})
	server.Execute("UPDATE pulumi_state SET key = replace(key, 'three.json', 'three.json.bak') WHERE key LIKE '%/a/three.json'")
	list := func(name string) string {
		command := exec.Command(program(t, name), "stack", "ls", "--all", "--json", "--non-interactive")
		command.Dir = t.TempDir()
		command.Env = append(os.Environ(), "PULUMI_BACKEND_URL="+server.Backend, "PULUMI_HOME="+t.TempDir(), "PULUMI_SKIP_UPDATE_CHECK=1",
			"PULUMI_DIY_BACKEND_PARALLEL=1") // with more, Pulumi waits for itself
		output, err := command.Output()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return string(output)
	}
	want, got := list("pulumi"), list("mara-engine")
	if !strings.Contains(want, "/one\"") || strings.Contains(want, "three") {
		t.Errorf("Pulumi lists\n%s", want)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("lists (-Pulumi's +ours):\n%s", diff)
	}
}
