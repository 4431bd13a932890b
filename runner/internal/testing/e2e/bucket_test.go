package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/core/event"
)

// TestBucket: where states are in a bucket, so are the locks of runs and Pulumi's, and
// both are waited for.
func TestBucket(t *testing.T) {
	t.Parallel()
	long(t)
	testPulumiLocks(t, inBucket(newBucket(t), "some/directory"))
}

func testPulumiLocks(t *testing.T, at place) {
	one, two := sharing(t, at), sharing(t, at)
	put := func(key string, content []byte) { two.objects(string(content), "put", at.backend, key) }
	remove := func(key string) { two.objects("", "delete", at.backend, key) }
	two.write("a/go", "")
	running := one.begin()
	if r := two.run("up", "--yes"); r.code != 4 || !strings.Contains(r.stderr, "the environment is locked by") {
		t.Errorf("beside another directory's run: exit code %d\n%s", r.code, r.stderr)
	}

	// A user runs Pulumi itself, as soon as the run has looked for that.
	const locks = ".pulumi/locks/organization/"
	pulumi, err := json.Marshal(map[string]any{"pid": 1 << 30, "username": "ann", "hostname": "elsewhere", "timestamp": "2026-01-02T03:04:05Z"})
	if err != nil {
		t.Fatal(err)
	}
	put(locks+"a/dev/theirs.json", pulumi)
	put(locks+"a/prod/another.json", pulumi)
	one.write("a/go", "")
	if err := running.Wait(); err == nil {
		t.Error("a run works on a stack that is locked")
	}

	const holder = "a is locked by ann@elsewhere (pid 1073741824)"
	if r := two.run("up", "--yes"); r.code != 4 || !strings.Contains(r.stderr, holder) || !strings.Contains(r.stderr, "--lock-timeout") {
		t.Errorf("a stack is locked: exit code %d\n%s", r.code, r.stderr)
	}
	if r := two.run("status"); r.code != 0 || !strings.Contains(r.stdout, "ann@elsewhere") {
		t.Errorf("status: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := two.run("unlock", "--yes"); r.code != 4 || !strings.Contains(r.stderr, "runner unlock -s dev --force") {
		t.Errorf("unlock: exit code %d\n%s", r.code, r.stderr)
	}
	time.AfterFunc(10*time.Second, func() { remove(locks + "a/dev/theirs.json") })
	r := two.run("up", "--yes", "--lock-timeout", "2m", "-o", "json")
	if r.code != 0 || results(decode(t, r.stdout)) != (event.Results{Succeeded: 1}) || !strings.Contains(r.stderr, "waiting up to 2m0s: "+holder) {
		t.Errorf("with --lock-timeout: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}

	// A run that was locked out when it came to the project waits, too.
	if err := os.Remove(one.root + "/a/begun"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(one.root + "/a/go"); err != nil {
		t.Fatal(err)
	}
	running = one.begin("--force", "--lock-timeout", "2m")
	put(locks+"a/dev/theirs.json", pulumi)
	time.AfterFunc(10*time.Second, func() { remove(locks + "a/dev/theirs.json") })
	one.write("a/go", "")
	if err := running.Wait(); err != nil {
		t.Errorf("locked out on the way: %v", err)
	}

	put(locks+"a/dev/theirs.json", pulumi)
	if r := two.run("unlock", "--yes", "--force"); r.code != 0 || !strings.Contains(r.stdout, "unlocked a") {
		t.Errorf("unlock --force: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	left := map[string]string{}
	if err := json.Unmarshal([]byte(two.objects("", "list", at.backend, ".pulumi/locks")), &left); err != nil {
		t.Fatal(err)
	}
	if _, ok := left["organization/a/prod/another.json"]; !ok || len(left) != 1 {
		t.Errorf("left %q", left)
	}
	if left := two.objects("", "list", at.backend, ".mara/locks"); left != "{}" {
		t.Errorf("left %s", left)
	}
}
