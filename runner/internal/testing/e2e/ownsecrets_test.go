package e2e

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// adopted is the repository of ownRepository with a mara.yaml.
func adopted(t *testing.T) (e *environment, states string) {
	t.Helper()
	e, states = ownRepository(t)
	e.env = append(e.env, "PULUMI_BACKEND_URL=file://"+states)
	e.expect(0, "adopt")
	return e, states
}

// cutOff runs a command and kills it when it has printed some lines. It may have ended before.
func (e *environment) cutOff(lines int, command string) {
	e.t.Helper()
	cmd := e.command(strings.Fields(command)...)
	output, err := cmd.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	for printed := bufio.NewScanner(output); lines > 0 && printed.Scan(); lines-- {
		e.t.Log(printed.Text())
	}
	_ = cmd.Process.Kill() // it has ended
	_ = cmd.Wait()
}

// TestChangedPassphraseIsCutOff: a change of the passphrase is cut off behind each of its writes, and again continues.
// In the end only the new one opens files and states, also those of a project without secrets.
func TestChangedPassphraseIsCutOff(t *testing.T) {
	t.Parallel()
	long(t)
	e, states := adopted(t)
	salts := e.read("net/Pulumi.dev.yaml") + e.read("db/Pulumi.dev.yaml")
	old := "correct horse"
	for lines := range 5 {
		passphrase := fmt.Sprintf("staple %d", lines)
		const change = "secrets change-provider passphrase --new-passphrase env:NEW --yes -s dev"
		e.env = append(e.env, "NEW="+passphrase)
		e.cutOff(lines+1, change)
		e.run(strings.Fields(change)...) // with the old one, which an end before the cut has made wrong
		e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE="+passphrase)
		e.expect(0, "preview -s dev --exit-code", "no changes")
		e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE="+old)
		e.expect(3, "preview -s dev", "passphrase is wrong")
		old = passphrase
		e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE="+passphrase)
	}
	for line := range strings.Lines(salts) {
		if strings.HasPrefix(line, "encryptionsalt:") && strings.Contains(e.read("net/Pulumi.dev.yaml")+e.read("db/Pulumi.dev.yaml"), line) {
			t.Errorf("the old salt is still there: %s", line)
		}
	}
	if got := e.plain(states, "db", "config", "get", "password"); strings.TrimSpace(got) != "hunter2" {
		t.Errorf("plain Pulumi reads %q", got)
	}
	e.plain(states, "net", "preview", "--expect-no-changes")
}

// TestSecretsOfANewStack: plain Pulumi leaves a stack file that has nothing but a salt. What runner has stored before, there or in
// the shared file, is used all the same.
func TestSecretsOfANewStack(t *testing.T) {
	t.Parallel()
	long(t)
	e, states := adopted(t)
	e.env = append(e.env, "VALUE=swordfish")
	mara := strings.Replace(e.read("mara.yaml"), "environments: [dev]", "environments: [dev, prod, test]", 1)
	e.write("mara.yaml", mara)
	e.expect(0, "secrets set db:password env:VALUE -s prod", "db/Pulumi.prod.yaml")
	e.plainOn(states, "net", "prod", "stack", "init", "prod")
	e.plainOn(states, "db", "prod", "stack", "init", "prod")
	if got := e.plainOn(states, "db", "prod", "config", "get", "password"); strings.TrimSpace(got) != "swordfish" {
		t.Errorf("plain Pulumi reads %q", got)
	}
	e.expect(0, "preview -s prod", "to create")

	// The same from the shared file, where it was stored before the project had files of its own.
	e.write("mara.yaml", strings.ReplaceAll(mara, "    stackFile: own\n", ""))
	e.expect(0, "secrets set db:password env:VALUE -s test", filepath.Join("config", "pulumi", "secrets"))
	e.write("mara.yaml", mara)
	e.plainOn(states, "net", "test", "stack", "init", "test")
	e.plainOn(states, "db", "test", "stack", "init", "test")
	if content := e.read("db/Pulumi.test.yaml"); !strings.HasPrefix(content, "encryptionsalt:") || strings.Contains(content, "password") {
		t.Errorf("the file that plain Pulumi leaves: %s", content)
	}
	e.expect(0, "up -s test --yes", "2 succeeded")
	if got := e.plainOn(states, "db", "test", "stack", "output", "login", "--show-secrets"); strings.TrimSpace(got) != "swordfish" {
		t.Errorf("plain Pulumi shows %q", got)
	}
}
