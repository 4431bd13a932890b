package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProjectFromGit: a project of a repository is fetched when the user says so,
// and then one like the others.
func TestProjectFromGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=correct horse")
	e.write("platform/network/Pulumi.yaml", "name: net\nruntime: yaml\noutputs: {range: 10.0.0.0/16}\n")
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "one"}, {"tag", "v1"}} {
		command := exec.Command(git, args...)
		command.Dir = filepath.Join(e.root, "platform")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	}
	e.write("mara.yaml", "projects:\n  - git: ./platform\n    ref: v1\n    path: network\n    outputs: [range]\n")
	for _, command := range []string{"plan", "status", "up"} { // none of them fetches
		if r := e.run(command); r.code != 3 || !strings.Contains(r.stderr, "mara.yaml:2: the project is in platform@v1, which is not here yet; fetch it with `runner fetch`") {
			t.Errorf("%s before it is fetched: exit code %d, %s", command, r.code, r.stderr)
		}
	}
	if r := e.run("fetch"); r.code != 0 || !strings.HasPrefix(r.stdout, "fetched platform@v1, commit ") {
		t.Fatalf("fetch: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("up", "--yes"); r.code != 0 || !strings.Contains(r.stdout, "10.0.0.0/16") {
		t.Errorf("up: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("plan", "-o", "yaml"); !strings.Contains(r.stdout, "git: ./platform\n        ref: v1\n        path: network\n") {
		t.Errorf("plan: %s%s", r.stdout, r.stderr)
	}
	var all []struct{ Ref, Commit string }
	if r := e.run("fetch", "-o", "json"); json.Unmarshal([]byte(r.stdout), &all) != nil || len(all) != 1 || len(all[0].Commit) != 40 {
		t.Errorf("fetch -o json: %s%s", r.stdout, r.stderr)
	}
	e.write("mara.yaml", "projects:\n  - git: ./platform\n    ref: v2\n")
	if r := e.run("fetch"); r.code != 3 || !strings.Contains(r.stderr, "mara.yaml:2: platform@v2 cannot be fetched: git fetch: ") {
		t.Errorf("a tag that there is not: exit code %d, %s", r.code, r.stderr)
	}
	if r := e.run("destroy", "--yes"); r.code != 3 {
		t.Errorf("destroy without the project: exit code %d", r.code)
	}
}
