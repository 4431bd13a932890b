package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// example creates an environment with a copy of one of the examples.
func example(t *testing.T, name string) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	if err := os.CopyFS(e.root, os.DirFS(filepath.Join("..", "..", "..", "..", "examples", name))); err != nil {
		t.Fatal(err)
	}
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=correct horse")
	return e
}

// TestOwnProjects runs the example that has nothing but projects of its own, for
// real: it needs no cloud, and neither Go nor Pulumi on the PATH, but what its
// hooks run.
func TestOwnProjects(t *testing.T) {
	t.Parallel()
	long(t)
	e := example(t, "own")
	tools := t.TempDir()
	for _, name := range []string{"sh", "grep"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(tools, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	e.env = append(e.env, "PATH="+tools)
	if r := e.run("up", "--yes"); r.code != 3 || !strings.Contains(r.stderr, "shop-database:password is missing: password of the database's owner") {
		t.Fatalf("without the secret: exit code %d\n%s", r.code, r.stderr)
	}
	r := e.run("up", "--yes", "--generate-secrets")
	if r.code != 0 {
		t.Fatalf("up: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	for _, want := range []string{
		"up: stack dev, 3 projects", "hook smoke done", "run: hook notify done", "3 succeeded; 3 created", "Shop  url  https://shop.example.com/",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("up does not say %q:\n%s", want, r.stdout)
		}
	}
	if strings.Contains(r.stdout, "warning") {
		t.Errorf("up warns:\n%s", r.stdout)
	}
	if r := e.run("outputs", "shop-database"); !strings.Contains(r.stdout, "login: [secret]") || !strings.Contains(r.stdout, "address: database.shop.example.com") {
		t.Errorf("outputs: %s%s", r.stdout, r.stderr)
	}
	if r := e.run("pulumi", "shop-database", "--", "preview", "--non-interactive"); r.code != 0 || !strings.Contains(r.stdout, "unchanged") {
		t.Errorf("pulumi preview does not get the secret: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	expectHarmlessSalt(t, e)
	expectUnknownEnvironment(t, e)
	expectAnotherBackend(t, e)
	if r := e.run("hook", "run", "shop"); r.code != 0 || !strings.Contains(r.stderr, "shop has an address\nhook smoke of shop done") {
		t.Errorf("hook run: exit code %d, %s", r.code, r.stderr)
	}
	expectChangedOutputs(t, e)
	expectOutputsAreAContract(t, e)
	if r := e.run("drift", "--exit-code"); r.code != 0 {
		t.Errorf("drift: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("up", "--yes", "--config", "shop:size=medium"); r.code != 2 || !strings.Contains(r.stderr, "allowed: small, large") {
		t.Errorf("a size that there is not: exit code %d, %s", r.code, r.stderr)
	}
	if r := e.run("destroy", "--yes"); r.code != 0 || !strings.Contains(r.stdout, "3 succeeded") {
		t.Errorf("destroy: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.edit("network/Main.yaml", "domain: ", "dns: ") // nothing is deployed
	e.expectText(3, []string{`shop/Main.yaml:11 reads output "domain" of shop-network, which exports dns, range`}, "preview")
}

// TestOwnProjectsAmongOthers runs the example that changes kind's plan. One of its
// projects is in Go.
func TestOwnProjectsAmongOthers(t *testing.T) {
	t.Parallel()
	long(t)
	e := example(t, "mixed")
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("Go is not installed, which runs the project banner")
	}
	e.useGo()
	// A preview of a new environment: greeting reads a kubeconfig that does not exist yet.
	if greeting := finished(e.simulate(0, "preview", "--generate-secrets"))["greeting"]; greeting.Result != "succeeded" || greeting.Changes == nil || greeting.Changes.Create != 2 {
		t.Errorf("preview of greeting: %+v", greeting)
	}
	events := e.simulate(0, "up", "--generate-secrets")
	steps := finished(events)
	if _, there := steps["bank-of-anthos"]; there || steps["greeting"].Result != "succeeded" || len(steps) != 16 {
		t.Errorf("%d steps: %v", len(steps), steps)
	}
	var order []string
	for _, ev := range events {
		if ev.Type == "step.finished" {
			order = append(order, ev.Project)
		}
		if ev.Type == "run.warning" && slices.Contains([]string{"greeting", "platform", "banner"}, ev.Project) {
			t.Errorf("%s: %s", ev.Project, ev.Message)
		}
	}
	if slices.Index(order, "platform") > slices.Index(order, "certmgr") {
		t.Errorf("certmgr did not wait: %v", order)
	}
	if changes := steps["greeting"].Changes; changes == nil || changes.Create != 2 { // the stack and the object
		t.Errorf("greeting made %+v", changes)
	}
	if r := e.run("outputs", "banner", "--simulate"); !strings.Contains(r.stdout, "banner: hello from ") || !strings.Contains(r.stdout, ", in green") {
		t.Errorf("outputs of banner: %s%s", r.stdout, r.stderr)
	}
	expectContractAmongLanguages(t, e)
	events = e.simulate(0, "up", "--config", "greeting:enabled=false")
	for _, project := range []string{"greeting", "banner"} {
		if _, there := finished(events)[project]; there {
			t.Errorf("%s exists although nothing needs it", project)
		}
	}
	e.simulate(0, "destroy")
}

// TestOwnNames: a project may have the name of one that comes with the runner where
// that is not in the list.
func TestOwnNames(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=correct horse", "TOKEN=hunter2!")
	e.write("mara.yaml", "projects: [{path: secrets}]\n")
	e.write("secrets/Pulumi.yaml", "name: secrets\nruntime: yaml\nconfig:\n  token: {type: string, secret: true}\n  size: {type: string, default: small}\n"+
		"outputs: {token: \"${token}\", size: \"${size}\"}\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {secrets:size: large}\n")
	if r := e.run("up", "--yes", "--secret", "secrets:token=env:TOKEN"); r.code != 0 || strings.Contains(r.stdout, "hunter2") {
		t.Fatalf("up: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("outputs", "secrets"); !strings.Contains(r.stdout, "token: [secret]") || !strings.Contains(r.stdout, "size: large") {
		t.Errorf("outputs: %s%s", r.stdout, r.stderr)
	}
	if r := e.run("pulumi", "secrets", "--", "config", "get", "size"); r.stdout != "large\n" {
		t.Errorf("pulumi config get: exit code %d, %q, %s", r.code, r.stdout, r.stderr)
	}
}

// TestMissingEdge: a reference that mara.yaml does not declare is reported, with the
// line to add.
func TestMissingEdge(t *testing.T) {
	t.Parallel()
	e := example(t, "own")
	e.write("mara.yaml", "projects:\n- path: network\n- {path: database, after: shop-network}\n")
	e.env = append(e.env, "PASSWORD=hunter2!")
	r := e.run("up", "--yes", "--secret", "shop-database:password=env:PASSWORD")
	want := `it reads shop-network, which the plan does not declare; a parallel run may start it too early; write at its entry (mara.yaml:3)  reads: ["shop-network"]`
	if r.code != 0 || !strings.Contains(r.stdout, want) {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
