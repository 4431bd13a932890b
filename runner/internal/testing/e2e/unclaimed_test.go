package e2e

import (
	"strings"
	"testing"

	"mara/runner/internal/testing/servicetest"
)

// stash returns a project in YAML with one resource.
func stash(name, more string) string {
	return "name: " + name + "\nruntime: yaml\nresources:\n  kept:\n    type: pulumi:index:Stash\n    properties:\n      input: hello\n" + more
}

// TestUnclaimedStacks renames a deployed project and removes another: both are reported,
// the one continues under its new name with its resources, the other is destroyed; the
// stack of another repository in the same backend stays.
func TestUnclaimedStacks(t *testing.T) {
	t.Parallel()
	long(t)
	testUnclaimedStacks(t, inDirectory(t))
}

// TestUnclaimedAtPulumiCloud: the same in an organization that several repositories share. Stacks of others are not read.
func TestUnclaimedAtPulumiCloud(t *testing.T) {
	t.Parallel()
	long(t)
	s := servicetest.New(t, servicetest.Options{})
	at := place{backend: s.URL, env: s.Env(), service: true}
	at.hasStack = func(project string) bool {
		_, ok := s.Stacks()["acme/"+project+"/dev"]
		return ok
	}
	at.forget, at.asked = s.Forget, s.Asked
	testUnclaimedStacks(t, at)
}

func testUnclaimedStacks(t *testing.T, at place) {
	open := func(repository string) *environment {
		e := newEnvironment(t, embedded)
		e.useStatesAt(at)
		if at.service {
			runProgram(t, "git", "-C", e.root, "init", "--quiet")
			runProgram(t, "git", "-C", e.root, "remote", "add", "origin", "https://git.example.com/"+repository)
		}
		return e
	}
	stranger, e := open("strangers"), open("ours")
	stranger.write("foreign/Pulumi.yaml", stash("foreign", ""))
	stranger.write("mara.yaml", "projects:\n- path: foreign\n")
	e.write("db/Pulumi.yaml", stash("database", "outputs:\n  url: ${kept.output}\n"))
	e.write("old/Pulumi.yaml", stash("old", ""))
	e.write("mara.yaml", "projects:\n- path: db\n- path: old\n")
	must := func(on *environment, code int, want string, args ...string) {
		t.Helper()
		r := on.run(args...)
		if r.code != code || !strings.Contains(r.stdout+r.stderr, want) {
			t.Fatalf("%v: exit code %d, want %d and %q\n%s%s", args, r.code, code, want, r.stdout, r.stderr)
		}
	}
	must(stranger, 0, "", "up", "--yes")
	must(e, 0, "", "up", "--yes")

	e.write("db/Pulumi.yaml", stash("db", "outputs:\n  url: ${kept.output}\n"))
	e.write("mara.yaml", "projects:\n- path: db\n")
	const both = "database (2 resources), old (2 resources) are deployed here, and no project claims them"
	must(e, 0, both, "status")
	must(e, 0, "runner adopt --rename database NEW -s dev", "status")
	must(e, 0, `"project": "database"`, "status", "-o", "json")
	must(e, 0, both, "doctor")
	must(e, 3, "the stack of foreign may belong to another repository", "adopt", "--rename", "foreign", "db", "-s", "dev", "--yes")
	must(e, 3, "no project of this environment is named dbb", "adopt", "--rename", "database", "dbb", "-s", "dev", "--yes")
	must(e, 2, "--yes", "adopt", "--rename", "database", "db", "-s", "dev")
	must(e, 0, "the resources deployed as database belong to db now", "adopt", "--rename", "database", "db", "-s", "dev", "--yes")
	must(e, 0, "no changes", "preview")
	must(e, 0, "", "up", "--yes")

	must(e, 2, "choose one", "destroy", "--orphans", "--only", "db", "--yes")
	must(e, 0, "foreign has a stack named dev and is not touched", "destroy", "--orphans", "--yes")
	must(e, 0, "every stack belongs to a project", "doctor")
	for project, want := range map[string]bool{"foreign": true, "db": true, "old": false, "database": false} {
		if at.hasStack != nil {
			if at.hasStack(project) != want {
				t.Errorf("the stack of %s exists: %t", project, !want)
			}
			continue
		}
		if states := e.objects("", "list", at.backend, ".pulumi/stacks/"+project); strings.Contains(states, `"dev.json"`) != want {
			t.Errorf("the stack of %s: %s", project, states)
		}
	}
	if at.asked != nil {
		other := open("others")
		other.write("db/Pulumi.yaml", stash("db", ""))
		other.write("mara.yaml", "projects:\n- path: db\n")
		must(other, 3, "db of dev was deployed from another repository, git.example.com/ours", "up", "--yes", "--new-backend")
		must(other, 3, "db of dev was deployed from another repository, git.example.com/ours", "destroy", "--yes", "--new-backend")
		at.forget()
		must(e, 0, "1 of 1 project deployed", "status")
		if asked := strings.Join(at.asked(), "\n"); strings.Contains(asked, "/foreign/") {
			t.Errorf("status asks beside stacks of others:\n%s", asked)
		}
	}
	must(e, 0, "1 of 1 project deployed", "status")
	must(e, 0, "", "destroy", "--orphans", "--yes")
	must(stranger, 0, "1 of 1 project deployed", "status")
}
