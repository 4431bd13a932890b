package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/lock"
)

// sharing creates a directory with one project, whose backend others have, too. A run in
// it goes on until the file "go" is there.
func sharing(t *testing.T, at place) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.useStatesAt(at)
	e.write("a/Pulumi.yaml", "name: a\nruntime: yaml\noutputs:\n  text: hello\n")
	e.write("a/hold.sh", "#!/bin/sh\ntouch begun\nuntil [ -e go ]; do sleep 0.05; done\n")
	if err := os.Chmod(filepath.Join(e.root, "a/hold.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	e.write("mara.yaml", "projects:\n- {path: a, hooks: [{name: hold, run: ./hold.sh, on: before}]}\n")
	return e
}

// begin starts an up and returns when it holds the lock.
func (e *environment) begin(flags ...string) *exec.Cmd {
	e.t.Helper()
	cmd := e.command(append([]string{"up", "--yes", "-o", "json"}, flags...)...)
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	waitFor(e.t, filepath.Join(e.root, "a/begun"))
	return cmd
}

// TestSharedBackend: two directories that share a backend never work on an
// environment at once. What died is taken over where that is certain.
func TestSharedBackend(t *testing.T) {
	t.Parallel()
	testSharedBackend(t, inDirectory(t))
}

func testSharedBackend(t *testing.T, at place) {
	one, two := sharing(t, at), sharing(t, at)
	two.write("a/go", "")
	running := one.begin()
	for _, operation := range []string{"up", "destroy", "refresh"} {
		if r := two.run(operation, "--yes"); r.code != 4 || !strings.Contains(r.stderr, "the environment is locked by") || !strings.Contains(r.stderr, "--lock-timeout") {
			t.Errorf("%s beside another directory's run: exit code %d\n%s", operation, r.code, r.stderr)
		}
	}
	if r := two.run("unlock", "--yes"); r.code != 4 || !strings.Contains(r.stderr, "the environment is locked by") {
		t.Errorf("unlock while it runs: exit code %d\n%s", r.code, r.stderr)
	}
	if r := two.run("doctor"); !strings.Contains(r.stdout, "the environment is locked by") {
		t.Errorf("doctor: %s%s", r.stdout, r.stderr)
	}
	time.AfterFunc(2*time.Second, func() { one.write("a/go", "") })
	r := two.run("up", "--yes", "--lock-timeout", "2m", "-o", "json")
	if r.code != 0 || !strings.Contains(r.stderr, "waiting up to 2m0s for") {
		t.Errorf("with --lock-timeout: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if err := running.Wait(); err != nil {
		t.Errorf("the first run: %v", err)
	}
	const locks = ".mara/locks/dev"
	if left := two.objects("", "list", at.backend, locks); left != "{}" {
		t.Errorf("locks are left: %s", left)
	}

	for _, name := range []string{"a/begun", "a/go"} {
		if err := os.Remove(filepath.Join(one.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	dying := one.begin()
	if err := dying.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = dying.Wait()
	one.write("a/go", "")
	r = two.run("up", "--yes", "-o", "json")
	if text := strings.Join(warnings(decode(t, r.stdout)), "\n"); r.code != 0 || !strings.Contains(text, "its lock is taken over") {
		t.Errorf("after a kill: exit code %d, warnings %q\n%s", r.code, text, r.stderr)
	}

	content, err := json.Marshal(lock.Owner{User: "ann", Host: "elsewhere", PID: 1, Operation: "up", Run: "theirs", Since: time.Now().Add(-26 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	two.objects(string(content), "put", at.backend, locks+"/theirs.json")
	if r := two.run("up", "--yes"); r.code != 4 || !strings.Contains(r.stderr, "ann@elsewhere") || !strings.Contains(r.stderr, "`runner unlock --force`") {
		t.Errorf("another machine's lock: exit code %d\n%s", r.code, r.stderr)
	}
	if r := two.run("unlock", "--yes"); r.code != 4 || !strings.Contains(r.stderr, "runner unlock -s dev --force") {
		t.Errorf("unlock of another machine's lock: exit code %d\n%s", r.code, r.stderr)
	}
	if r := two.run("unlock", "--yes", "--force"); r.code != 0 || !strings.Contains(r.stderr, "locked in the backend by ann@elsewhere (process 1): up, run theirs, 26 hours old") || !strings.Contains(r.stdout, "unlocked the environment") {
		t.Errorf("unlock: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := two.run("up", "--yes", "-o", "json"); r.code != 0 || results(decode(t, r.stdout)) != (event.Results{Succeeded: 1}) {
		t.Errorf("after unlock: exit code %d\n%s", r.code, r.stderr)
	}
}

// TestObjects: mara-engine keeps objects in the bucket of a backend. Here it is a
// directory; the libraries for S3, Google and Azure are used in the same way.
func TestObjects(t *testing.T) {
	t.Parallel()
	do := emptyEnvironment(t).objects
	url := "file://" + t.TempDir()
	if got := do("", "list", url, "locks/dev"); got != "{}" {
		t.Errorf("an empty bucket has %s", got)
	}
	do("one", "put", url, "locks/dev/a.json")
	do("two", "put", url, "locks/development/b.json")
	do("three", "put", url, "locks/dev/deep/c.json")
	if got := do("", "list", url, "locks", "dev/deep", "development"); got != `{"dev/deep/c.json":"dGhyZWU=","development/b.json":"dHdv"}` {
		t.Errorf("in two directories: %s", got)
	}
	do("", "delete", url, "locks/dev/deep/c.json")
	if got := do("", "list", url, "locks/dev"); got != `{"a.json":"b25l"}` {
		t.Errorf("got %s", got)
	}
	for range 2 {
		do("", "delete", url, "locks/dev/a.json")
	}
	if got := do("", "list", url, "locks/dev"); got != "{}" {
		t.Errorf("left %s", got)
	}
}
