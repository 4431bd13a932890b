package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// elsewhere returns a fleet of environments with three projects each, whose states are at a backend.
func elsewhere(t *testing.T, at place, environments int) *environment {
	t.Helper()
	e := emptyEnvironment(t)
	e.useStatesAt(at)
	e.write("config/pulumi/environment", "")
	e.write("mara.yaml", "projects:\n- {path: a}\n- {path: b, reads: a}\n- {path: c}\n")
	e.write("a/Pulumi.yaml", "name: a\nruntime: yaml\nconfig: {size: {type: integer}}\noutputs: {size: \"${size}\"}\n")
	e.write("b/Pulumi.yaml", "name: b\nruntime: yaml\nresources:\n  a: {type: pulumi:pulumi:StackReference, properties: {name: \"organization/a/${pulumi.stack}\"}}\n"+
		"outputs: {size: \"${a.outputs[\\\"size\\\"]}\"}\n")
	e.write("c/Pulumi.yaml", "name: c\nruntime: yaml\noutputs: {text: hello}\n")
	for i := range environments {
		e.write(fmt.Sprintf("config/pulumi/Pulumi.e%02d.yaml", i), fmt.Sprintf("config:\n  a:size: \"%d\"\n", i))
	}
	return e
}

// succeed runs a command that has to succeed, and returns what it prints.
func (e *environment) succeed(args ...string) string {
	e.t.Helper()
	r := e.run(args...)
	if r.code != 0 {
		e.t.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), r.code, lastLines(r.stdout), r.stderr)
	}
	return r.stdout
}

// life is that of a fleet whose states are not in files.
type life struct {
	place
	again  string // the address of another place on the same server
	needle string // a secret of the server
	size   int    // how many environments; 0 for 12
}

// lifeParts lists what a life is made of.
func lifeParts(environments int) []string {
	return []string{
		fmt.Sprintf("a rollout of %d environments", environments) + ", and what `fleet status`, `stacks` and `outputs` say", "two directories at once, as on two machines",
		"a runner that is killed, and `up --resume`", "another passphrase", "`state move` to files and back",
		"`fleet destroy`", "`runner pulumi`, which prints no password",
	}
}

// test takes the fleet through a rollout, looking at it, two directories at once, a killed run, other secrets, moves to
// files and back, and the end.
func (l life) test(t *testing.T) {
	t.Helper()
	backend := l.backend
	size := cmp.Or(l.size, 12)
	e := elsewhere(t, l.place, size)
	trouble := func() {
		if l.trouble != nil {
			l.trouble()
		}
	}
	trouble()
	e.succeed("fleet", "up", "--all", "--yes")
	trouble()
	if text := e.succeed("fleet", "status"); !strings.Contains(text, fmt.Sprintf("%d up to date", size)) {
		t.Errorf("fleet status says %s", text)
	}
	if text := e.succeed("stacks"); strings.Count(text, "3 of 3")+strings.Count(text, "deployed") < size {
		t.Errorf("stacks says %s", text)
	}
	if text := e.succeed("outputs", "b", "size", "-s", "e07"); strings.TrimSpace(text) != "7" {
		t.Errorf("the output of an environment is %q", text)
	}
	other := elsewhere(t, l.place, size) // on another machine
	other.write("config/pulumi/Pulumi.e01.yaml", "config:\n  a:size: \"100\"\n")
	other.succeed("up", "-s", "e01", "--yes", "--new-backend")
	if text := e.succeed("outputs", "b", "size", "-s", "e01"); strings.TrimSpace(text) != "100" {
		t.Errorf("what another directory has deployed is %q", text)
	}

	e.write("c/hold.sh", "#!/bin/sh\ntouch begun\nuntil [ -e go ]; do sleep 0.05; done\n")
	if err := os.Chmod(filepath.Join(e.root, "c/hold.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	e.write("mara.yaml", "projects:\n- {path: a}\n- {path: b, reads: a}\n- {path: c, hooks: [{name: hold, run: ./hold.sh, on: before}]}\n")
	killed := e.command("up", "-s", "e02", "--yes", "--force")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(e.root, "c/begun"))
	if r := other.run("up", "-s", "e02", "--yes"); r.code != 4 && !l.service {
		t.Errorf("beside another directory's run: exit code %d\n%s", r.code, r.stderr)
	}
	_ = killed.Process.Kill()
	_ = killed.Wait()
	e.write("c/go", "")
	if r := e.run("up", "-s", "e02", "--yes", "--resume"); r.code != 0 {
		e.succeed("unlock", "-s", "e02", "--yes")
		e.succeed("up", "-s", "e02", "--yes", "--resume")
	}

	e.env = append(e.env, "NEW=another horse")
	e.succeed("secrets", "change-provider", "passphrase", "--new-passphrase", "env:NEW", "-s", "e03", "--yes")
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=another horse")
	e.succeed("up", "-s", "e03", "--yes")
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE="+ownPassphrase)
	files := "file://" + t.TempDir()
	e.succeed("state", "move", "-s", "e04", "--to", files, "--yes")
	e.env = append(e.env, "PULUMI_BACKEND_URL="+files)
	if text := e.succeed("outputs", "b", "size", "-s", "e04"); strings.TrimSpace(text) != "4" {
		t.Errorf("after the move to files the output is %q", text)
	}
	e.succeed("state", "move", "-s", "e04", "--to", l.again, "--yes")
	e.env = append(e.env, "PULUMI_BACKEND_URL="+l.again)
	if text := e.succeed("outputs", "b", "size", "-s", "e04"); strings.TrimSpace(text) != "4" {
		t.Errorf("after the move back the output is %q", text)
	}
	e.env = append(e.env, "PULUMI_BACKEND_URL="+backend)
	trouble()
	e.succeed("fleet", "destroy", "e1*", "--yes")
	listed := e.run("pulumi", "a", "-s", "e05", "--", "stack", "ls")
	if listed.code != 0 || !strings.Contains(listed.stdout, "e05") {
		t.Errorf("pulumi stack ls: exit code %d\n%s%s", listed.code, listed.stdout, listed.stderr)
	}
	texts := everyFileBelow(t, filepath.Join(e.root, ".runner"))
	texts["what pulumi prints"] = []byte(listed.stdout + listed.stderr)
	searchFor(t, map[string]string{"the secret of the server": l.needle}, texts)
}

func waitFor(t *testing.T, file string) {
	t.Helper()
	for range 1200 {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", file)
}

// TestNewEnvironmentOutsideOfTheList: an environment that is made although the list in mara.yaml lacks it is left out by
// whatever goes through the list, which the up that makes it says.
func TestNewEnvironmentOutsideOfTheList(t *testing.T) {
	t.Parallel()
	e := emptyEnvironment(t)
	e.write("mara.yaml", "backend: file://states\nenvironments: [dev]\nprojects:\n- path: a\n")
	e.write("a/Pulumi.yaml", "name: a\nruntime: yaml\n")
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=correct horse")
	const warning = "qa is not among the environments of mara.yaml"
	e.expect(3, "up -s qa --yes", "there is no environment", "add --new")
	e.expect(0, "up -s qa --yes --new", warning)
	if r := e.run("up", "-s", "dev", "--yes", "--new"); r.code != 0 || strings.Contains(r.stdout+r.stderr, warning) {
		t.Error(r.stdout, r.stderr)
	}
}
