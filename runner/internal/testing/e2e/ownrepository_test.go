package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ownRepository is a repository as plain Pulumi has it: each project has its stack files next to it, each with a salt
// of its own, and is deployed as dev in a directory that the shell names. db reads net, and has a secret.
func ownRepository(t *testing.T) (e *environment, states string) {
	t.Helper()
	e = emptyEnvironment(t)
	states = filepath.Join(t.TempDir(), "states")
	if err := os.Mkdir(states, 0o755); err != nil {
		t.Fatal(err)
	}
	e.write("net/Pulumi.yaml", "name: net\nruntime: yaml\nconfig:\n  cidr: {type: string, default: 10.0.0.0/16}\noutputs:\n  zone: ${cidr}\n")
	e.write("db/Pulumi.yaml", "name: db\nruntime: yaml\nconfig:\n  password: {type: string, secret: true}\nresources:\n"+
		"  network:\n    type: pulumi:pulumi:StackReference\n    properties: {name: 'organization/net/${pulumi.stack}'}\n"+
		"outputs:\n  address: db.${network.outputs[\"zone\"]}\n  login: ${password}\n")
	e.write("net/Pulumi.dev.yaml", "config:\n  net:cidr: 10.1.0.0/16 # of dev\n")
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=correct horse")
	for _, project := range []string{"net", "db"} {
		e.plain(states, project, "stack", "init", "dev")
		if project == "db" {
			e.plain(states, project, "config", "set", "--secret", "password", "hunter2")
		}
		e.plain(states, project, "up", "--yes", "--skip-preview")
	}
	return e, states
}

// plain runs plain Pulumi on dev in the directory of a project.
func (e *environment) plain(states, project string, args ...string) string {
	e.t.Helper()
	return e.plainOn(states, project, "dev", args...)
}

// plainOn runs plain Pulumi on a stack in the directory of a project.
func (e *environment) plainOn(states, project, stack string, args ...string) string {
	e.t.Helper()
	cmd := exec.CommandContext(e.t.Context(), program(e.t, "pulumi"), append(args, "--non-interactive", "--stack", stack)...)
	if args[0] == "stack" && args[1] == "init" {
		cmd.Args = append(cmd.Args[:1], "stack", "init", args[2], "--non-interactive")
	}
	cmd.Dir = filepath.Join(e.root, project)
	cmd.Env = append([]string{"HOME=" + e.home, "PATH=" + filepath.Dir(program(e.t, "pulumi")) + ":" + os.Getenv("PATH"),
		"PULUMI_BACKEND_URL=file://" + states}, e.env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		e.t.Fatalf("pulumi %s in %s: %v\n%s", strings.Join(args, " "), project, err, &output)
	}
	return output.String()
}

// clone returns a clone of the repository, without what git ignores.
func (e *environment) clone() *environment {
	e.t.Helper()
	other := *e
	other.root = filepath.Join(e.t.TempDir(), "clone")
	other.env = nil
	for _, variable := range e.env {
		if !strings.HasPrefix(variable, "PULUMI_BACKEND_URL=") {
			other.env = append(other.env, variable)
		}
	}
	if err := os.CopyFS(other.root, os.DirFS(e.root)); err != nil {
		e.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(other.root, ".runner")); err != nil {
		e.t.Fatal(err)
	}
	return &other
}

// expect runs a command and compares its exit code and what it says.
func (e *environment) expect(code int, command string, want ...string) {
	e.t.Helper()
	r := e.run(strings.Fields(command)...)
	if r.code != code {
		e.t.Errorf("runner %s: exit code %d, want %d\n%s%s", command, r.code, code, r.stdout, r.stderr)
	}
	for _, text := range want {
		if !strings.Contains(r.stdout+r.stderr, text) {
			e.t.Errorf("runner %s: no %q in\n%s%s", command, text, r.stdout, r.stderr)
		}
	}
}

// TestYourOwnRepository is the tutorial for a repository that plain Pulumi has deployed: adopt it, see no changes in it,
// in a clone and in another shell, change what is next to its projects, and go back to plain Pulumi.
func TestYourOwnRepository(t *testing.T) {
	t.Parallel()
	long(t)
	e, states := ownRepository(t)
	shell := e.clone()
	shell.env = append(shell.env, "PULUMI_BACKEND_URL=file://"+states)
	shell.expect(0, "adopt", "2 projects", "Environments: dev", "Backend: file://"+states)
	clone := shell.clone() // another shell, without the variable
	clone.expect(0, "check", "1 environment checked, no problems")
	clone.expect(0, "stacks", "dev")
	clone.expect(0, "preview -s dev --exit-code", "no changes")
	clone.expect(0, "up -s dev --yes")
	clone.expect(0, "secrets list -s dev", "db:password", "set (db/Pulumi.dev.yaml:")
	clone.expect(3, "up -s dve --yes", "did you mean dev?", "--new")

	// Keys and secrets go where plain Pulumi reads them.
	clone.env = append(clone.env, "NEW=battery staple", "VALUE=swordfish")
	clone.expect(0, "config set net:cidr 10.2.0.0/16 -s dev", "net/Pulumi.dev.yaml")
	clone.expect(0, "secrets set db:password env:VALUE -s dev", "db/Pulumi.dev.yaml")
	if got := clone.plain(states, "net", "config", "get", "cidr"); strings.TrimSpace(got) != "10.2.0.0/16" {
		t.Errorf("plain Pulumi reads %q", got)
	}
	if got := clone.plain(states, "db", "config", "get", "password"); strings.TrimSpace(got) != "swordfish" {
		t.Errorf("plain Pulumi reads %q", got)
	}
	clone.expect(0, "up -s dev --yes", "2 succeeded")

	// The passphrase changes in files and states, and in no file that was not there.
	clone.expect(0, "secrets change-provider passphrase --new-passphrase env:NEW --yes -s dev", "encrypted the state of db",
		"encrypted db/Pulumi.dev.yaml", "encrypted net/Pulumi.dev.yaml")
	if _, err := os.Stat(filepath.Join(clone.root, "config")); err == nil {
		t.Error("a directory config was made")
	}
	clone.expect(3, "preview -s dev", "passphrase is wrong")
	clone.env = append(clone.env, "PULUMI_CONFIG_PASSPHRASE=battery staple")
	clone.expect(0, "preview -s dev --exit-code", "no changes")

	// A new environment, from the first one.
	clone.expect(0, "fleet new test --from dev --yes", "db/Pulumi.test.yaml")
	clone.expect(0, "check", "net/Pulumi.test.yaml", "is of no environment: mara.yaml lists dev")

	// Plain Pulumi goes on.
	if got := clone.plain(states, "net", "stack", "output", "zone"); strings.TrimSpace(got) != "10.2.0.0/16" {
		t.Errorf("plain Pulumi shows %q", got)
	}
}

// TestNothingIsDeployedTwice: where nobody names the backend of an environment that exists, or somebody names another
// one, up refuses and preview warns.
func TestNothingIsDeployedTwice(t *testing.T) {
	t.Parallel()
	long(t)
	e, states := ownRepository(t)
	shell := e.clone()
	shell.env = append(shell.env, "PULUMI_BACKEND_URL=file://"+states)
	shell.expect(0, "adopt")
	clone := shell.clone()
	content, err := os.ReadFile(filepath.Join(clone.root, "mara.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := clone.clone()
	elsewhere.env = append(elsewhere.env, "PULUMI_BACKEND_URL=file://other")
	elsewhere.expect(3, "up -s dev --yes", "backend in mara.yaml:", "PULUMI_BACKEND_URL", "--new-backend")
	elsewhere.expect(0, "preview -s dev", "up would create it a second time")

	var kept []string
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, "backend:") {
			kept = append(kept, line)
		}
	}
	clone.write("mara.yaml", strings.Join(kept, ""))
	clone.expect(3, "up -s dev --yes", "no backend is named", "net/Pulumi.dev.yaml was made for one")
	clone.expect(3, "preview -s dev --exit-code", "no backend is named")
	clone.expect(0, "up -s dev --yes --new-backend", "2 succeeded")
	clone.expect(0, "destroy -s dev --yes")
	clone.expect(0, "up -s dev --yes", "2 succeeded") // it was here before

	for _, project := range []string{"net", "db"} { // Pulumi's own way to name it
		file := project + "/Pulumi.yaml"
		program, err := os.ReadFile(filepath.Join(e.root, file))
		if err != nil {
			t.Fatal(err)
		}
		e.write(file, string(program)+"backend: {url: 'file://"+states+"'}\n")
	}
	e.write("mara.yaml", strings.Join(kept, ""))
	e.expect(0, "preview -s dev --exit-code", "no changes")
}

// TestRenameInYourOwnRepository: a renamed project is seen although each project has a key of its own.
func TestRenameInYourOwnRepository(t *testing.T) {
	t.Parallel()
	long(t)
	e, states := ownRepository(t)
	e.env = append(e.env, "PULUMI_BACKEND_URL=file://"+states)
	e.expect(0, "adopt")
	manifest, err := os.ReadFile(filepath.Join(e.root, "net/Pulumi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	e.write("net/Pulumi.yaml", strings.Replace(string(manifest), "name: net", "name: network", 1))
	mara, err := os.ReadFile(filepath.Join(e.root, "mara.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	e.write("mara.yaml", strings.Replace(string(mara), "reads: [net]", "reads: [network]", 1))
	e.expect(0, "status -s dev", "net (1 resource) is deployed here, and no project claims it")
	e.expect(0, "preview -s dev --only network", "net was deployed, and no project claims it; network is new: a rename?")
	e.expect(3, "up -s dev --yes --only network", "a rename?", "runner adopt --rename net network -s dev", "--allow orphan-and-new")
	e.expect(0, "adopt --rename net network -s dev --yes", "renamed the keys net:... in net/Pulumi.dev.yaml")
	e.expect(0, "check", "no problems")
	if content, err := os.ReadFile(filepath.Join(e.root, "net/Pulumi.dev.yaml")); err != nil || !strings.Contains(string(content), "network:cidr: 10.1.0.0/16 # of dev\n") {
		t.Errorf("%s, %v", content, err)
	}
	e.expect(0, "preview -s dev --only network --exit-code", "no changes")
}
