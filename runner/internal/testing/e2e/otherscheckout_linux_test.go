package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mara/projects/loopback/loopbacktest"
)

// TestCheckoutOfAnotherUser: what judges files alone works where .runner is another user's, and what needs what is in there
// says whose it is.
func TestCheckoutOfAnotherUser(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=secret")
	e.write("mara.yaml", "projects: [{path: app}]\n")
	e.write("app/Pulumi.yaml", "name: app\nruntime: yaml\noutputs: {zone: a}\n")
	e.write("config/environments/dev.yaml", "values: {runner: {provider: own}}\n")
	if r := e.run("up", "-s", "dev", "--yes"); r.code != 0 {
		t.Fatal(r.stdout, r.stderr)
	}
	asRoot, home := os.Geteuid() == 0, t.TempDir()
	if asRoot {
		for _, dir := range []string{filepath.Dir(e.root), filepath.Dir(home)} { // those of a test are its user's alone
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chown(home, loopbacktest.Nobody, loopbacktest.Nobody); err != nil {
			t.Fatal(err)
		}
	} else {
		shut := filepath.Join(e.root, ".runner")
		if err := os.Chmod(shut, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(shut, 0o700) })
	}
	for _, c := range []struct {
		line string
		code int
	}{
		{"check", 0}, {"fleet check", 0}, {"fleet list", 0}, {"plan -s dev", 0}, {"config list -s dev", 0}, {"config explain app:x -s dev", 0},
		{"config schema", 0}, {"config reference", 0}, {"hook list -s dev", 0}, {"policy list", 0}, {"secrets list -s dev", 0}, {"env -s dev", 0},
		{"providers", 0}, {"status -s dev", 3}, {"outputs -s dev", 3}, {"stacks", 1}, {"history", 3}, {"show", 3}, {"logs", 3}, {"report", 3},
		{"fleet status", 3}, {"fleet plan", 0}, {"adopt --print", 3}, {"up -s dev --yes", 3}, {"preview -s dev", 3},
	} {
		command := e.command(strings.Fields(c.line)...)
		command.Env = append(command.Env, "HOME="+home, "PULUMI_HOME="+home, "TMPDIR="+home)
		if asRoot {
			command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: loopbacktest.Nobody, Gid: loopbacktest.Nobody}}
		}
		r := e.finish(command, "")
		said := r.stdout + r.stderr
		if r.code != c.code || c.code != 0 && (!strings.Contains(said, "permission denied") || !strings.Contains(r.stderr, "hint:") && !strings.Contains(said, "->")) {
			t.Errorf("%s: exit code %d, want %d\n%s", c.line, r.code, c.code, said)
		}
	}
}
