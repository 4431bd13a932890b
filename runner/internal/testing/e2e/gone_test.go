package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// newPair deploys an environment of two projects, of which b reads a.
func newPair(t *testing.T) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: a\n  - {path: b, reads: a}\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	e.write("a/Pulumi.yaml", stash("a", "outputs:\n  x: ${kept.output}\n"))
	e.write("b/Pulumi.yaml", readerNamed("b"))
	e.simulate(0, "up")
	return e
}

func readerNamed(name string) string {
	return "name: " + name + "\nruntime: yaml\nresources:\n" +
		"  a: {type: \"pulumi:pulumi:StackReference\", properties: {name: organization/a/dev}}\n" +
		"  kept: {type: \"pulumi:index:Stash\", properties: {input: \"${a.outputs.x}\"}}\n"
}

const stateOfB = ".runner/simulated/state/.pulumi/stacks/b/dev.json"

// TestStateIsGone: a project that a run has deployed is not made a second time because its state is gone, nor left
// behind by a destroy. The copy that Pulumi keeps brings it back; what was removed on purpose can be allowed.
func TestStateIsGone(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(file string) error{
		"missing": os.Remove,
		"empty":   func(file string) error { return os.WriteFile(file, []byte("{}"), 0o600) },
		"null": func(file string) error {
			return os.WriteFile(file, []byte(`{"version":3,"checkpoint":{"stack":"organization/b/dev","latest":null}}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPair(t)
			e.simulate(0, "up", "--force") // Pulumi keeps the state before the last one
			whole := e.read(stateOfB)
			if err := damage(filepath.Join(e.root, stateOfB)); err != nil {
				t.Fatal(err)
			}
			const gone = "b was deployed by run "
			e.expect(3, "up --simulate --simulate-speed 100000 --yes", gone, "its state is gone; nothing was changed", "--allow b")
			e.expect(3, "destroy --simulate --simulate-speed 100000 --yes", gone)
			e.expect(0, "preview --simulate --simulate-speed 100000", gone)
			r := e.run("up", "--simulate", "--yes")
			found := regexp.MustCompile("`cp (\\S+) (\\S+)`").FindStringSubmatch(strings.Join(strings.Fields(r.stderr), " "))
			if found == nil {
				t.Fatalf("the copy is not named, exit code %d: %s%s", r.code, r.stdout, r.stderr)
			}
			content, err := os.ReadFile(found[1])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(found[2], content, 0o600); err != nil {
				t.Fatal(err)
			}
			if found[2] != filepath.Join(e.root, stateOfB) || len(content) < len(whole)/2 {
				t.Errorf("cp %s %s brings back %d bytes of %d", found[1], found[2], len(content), len(whole))
			}
			e.expect(0, "up --simulate --simulate-speed 100000 --yes", "no changes")
			if err := damage(filepath.Join(e.root, stateOfB)); err != nil {
				t.Fatal(err)
			}
			e.expect(0, "up --simulate --simulate-speed 100000 --yes --allow b", "b: succeeded")
		})
	}
}

// TestDestroyUnderAnOrphan: what a stack that no project claims any more still reads is not destroyed under it.
func TestDestroyUnderAnOrphan(t *testing.T) {
	t.Parallel()
	e := newPair(t)
	e.write("b/Pulumi.yaml", readerNamed("b2"))
	e.expect(3, "destroy --simulate --simulate-speed 100000 --yes", "b (2 resources) is deployed here, no project claims it, and it needs a; nothing was changed",
		"runner destroy --orphans -s dev --simulate", "--allow orphan-readers")
	if state := e.read(".runner/simulated/state/.pulumi/stacks/a/dev.json"); !strings.Contains(state, "Stash") {
		t.Error("a was destroyed")
	}
	e.expect(0, "destroy --simulate --simulate-speed 100000 --yes --only b2 --allow orphan-readers")
	e.expect(0, "destroy --simulate --simulate-speed 100000 --orphans --yes")
	e.expect(0, "destroy --simulate --simulate-speed 100000 --yes")
}

// TestWhyOfWhatCannotBeCompared: a project with a link out of the root has the same reason each time.
func TestWhyOfWhatCannotBeCompared(t *testing.T) {
	t.Parallel()
	e := newPair(t)
	if err := os.Symlink(t.TempDir(), filepath.Join(e.root, "a/outside")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e.expect(0, "up --simulate --simulate-speed 100000 --yes --why", "a: something that cannot be compared\n")
	}
}

// TestTwoRepositoriesOneBackend: what one repository has deployed into a shared backend, another one with the same names
// neither overwrites nor destroys without a word. A clone of the same repository goes on.
func TestTwoRepositoriesOneBackend(t *testing.T) {
	t.Parallel()
	at := inDirectory(t)
	open := func(remote string) *environment {
		e := newEnvironment(t, embedded)
		e.useStatesAt(at)
		e.write("mara.yaml", "projects:\n  - path: a\n")
		e.write("a/Pulumi.yaml", stash("a", ""))
		for _, args := range [][]string{{"init", "--quiet"}, {"remote", "add", "origin", remote}} {
			if out, err := exec.Command("git", append([]string{"-C", e.root}, args...)...).CombinedOutput(); err != nil {
				t.Fatalf("git %s: %v\n%s", args, err, out)
			}
		}
		return e
	}
	first := open("https://someone:password@example.com/acme/infra.git")
	clone, other := open("git@example.com:acme/infra"), open("https://example.com/acme/shop")
	first.expect(0, "up --yes", "1 succeeded")
	const refused = "dev was deployed from another repository, example.com/acme/infra, into the same backend; nothing was changed"
	other.expect(3, "destroy --yes", refused, "--allow other-repository")
	other.expect(3, "up --yes", refused)
	clone.expect(0, "up --yes", "no changes")
	other.expect(0, "destroy --yes --allow other-repository", "2 deleted")
	other.expect(0, "up --yes", "1 succeeded")
}

// TestProtectedFromPulumi: Pulumi itself knows nothing of a protected environment, and that is said where it is used.
func TestProtectedFromPulumi(t *testing.T) {
	t.Parallel()
	e := newPair(t)
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {runner:protect: true}\n")
	const note = "note: dev is protected (runner:protect in config/pulumi/Pulumi.dev.yaml:1), which Pulumi does not know"
	e.expect(0, "pulumi b --simulate -- destroy --yes", note)
	if r := e.run("pulumi", "b", "--simulate", "--", "stack", "ls"); strings.Contains(r.stderr, "protected") {
		t.Errorf("stack ls: %s", r.stderr)
	}
}
