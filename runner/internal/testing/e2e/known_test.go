package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/encryption"
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
	if r := e.run("status"); !strings.Contains(r.stderr, `warning: "dev" was deployed to file://.runner/state from here`) {
		t.Errorf("status in another backend: %s%s", r.stdout, r.stderr)
	}
	expectMove(t, e)
	e.env = env
	if r := e.run("preview"); r.code != 3 || !strings.Contains(r.stderr, `"dev" was deployed to file://elsewhere from here`) {
		t.Errorf("the old backend after the move: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.expectText(0, []string{"3 states of dev moved from file://elsewhere to file://.runner/state\nThe old states stay in file://elsewhere"},
		"state", "move", "--yes", "--to", "file://.runner/state")
}

// expectMove moves the environment to the configured backend, where an earlier move was
// cut off: the stacks are there, and one has its state.
func expectMove(t *testing.T, e *environment) {
	t.Helper()
	const state = ".pulumi/stacks/shop/dev.json"
	content, err := os.ReadFile(filepath.Join(e.root, ".runner", "state", state))
	if err != nil {
		t.Fatal(err)
	}
	e.write("elsewhere/"+state, strings.Replace(string(content), "shop.example.com", "other.example.com", 1))
	if r := e.run("state", "move", "--yes"); r.code != 3 || !strings.Contains(r.stderr, "another state of shop is in the new backend already") {
		t.Errorf("state move over another state: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.write("elsewhere/"+state, string(content))
	r := e.run("state", "move", "--yes")
	for _, want := range []string{"shop (4 resources): the same state is there already\n", "shop-database (3 resources): copied and compared\n", "shop-network (1 resource): copied and compared\n"} {
		if r.code != 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("state move: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
	if !strings.HasPrefix(r.stdout, "3 states of dev moved from file://.runner/state to file://elsewhere\nThe old states stay in file://.runner/state") {
		t.Errorf("state move: %s", r.stdout)
	}
	e.expectText(0, []string{"3 succeeded; no changes"}, "preview")
	e.expectText(0, []string{"login: owner:"}, "outputs", "shop-database", "--show-secrets")
	e.expectText(0, []string{"dev is in file://elsewhere already"}, "state", "move", "--all", "--to", "file://elsewhere")
}
