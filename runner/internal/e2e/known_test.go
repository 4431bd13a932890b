package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/encryption"
)

// expectHarmlessSalt has plain Pulumi run a program without secrets, which must not
// write a salt into the shared stack file; and writes one there as Pulumi does, with
// which the environment still works.
func expectHarmlessSalt(t *testing.T, e *environment) {
	t.Helper()
	if r := e.run("pulumi", "shop-network", "--", "preview", "--non-interactive"); r.code != 0 {
		t.Errorf("pulumi preview: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	const name = "config/pulumi/Pulumi.dev.yaml"
	content, err := os.ReadFile(filepath.Join(e.root, name))
	if err != nil || strings.Contains(string(content), "encryptionsalt") {
		t.Errorf("after pulumi preview, %v:\n%s", err, content)
	}
	idle, err := encryption.NewKey("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	e.write(name, "encryptionsalt: "+idle.Salt()+"\n"+string(content))
	defer e.write(name, string(content))
	if r := e.run("preview"); r.code != 0 || !strings.Contains(r.stdout, "3 succeeded; no changes") {
		t.Errorf("preview with a salt that encrypts nothing: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// expectUnknownEnvironment misspells the name of an environment, in commands that work
// on what is deployed.
func expectUnknownEnvironment(t *testing.T, e *environment) {
	t.Helper()
	for _, args := range [][]string{{"destroy", "--yes"}, {"refresh", "--yes"}, {"drift"}, {"outputs"}, {"status"}, {"unlock"}, {"hook", "run", "shop"}} {
		r := e.run(append(args, "-s", "dve")...)
		if r.code != 3 || !strings.Contains(r.stderr, `there is no environment "dve"`) || !strings.Contains(r.stderr, `did you mean "dev"?`) {
			t.Errorf("%s: exit code %d\n%s%s", args[0], r.code, r.stdout, r.stderr)
		}
	}
	if r := e.run("stacks"); strings.Contains(r.stdout, "dve") {
		t.Errorf("stacks: %s", r.stdout)
	}
}

// expectAnotherBackend names another backend than the one that the environment was
// deployed to, where everything would be created a second time.
func expectAnotherBackend(t *testing.T, e *environment) {
	t.Helper()
	env := e.env
	e.env = append(slices.Clone(env), "PULUMI_BACKEND_URL=file://elsewhere")
	for _, args := range [][]string{{"preview"}, {"up", "--yes"}, {"destroy", "--yes"}} {
		r := e.run(args...)
		if r.code != 3 || !strings.Contains(r.stderr, `"dev" was deployed to file://.runner/state from here`) || !strings.Contains(r.stderr, "--new-backend") {
			t.Errorf("%s in another backend: exit code %d\n%s%s", args[0], r.code, r.stdout, r.stderr)
		}
	}
	if r := e.run("preview", "--new-backend"); r.code != 0 || !strings.Contains(r.stdout, "to create") {
		t.Errorf("preview --new-backend: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.env = env
}
