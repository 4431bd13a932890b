package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mara/runner/internal/testing/prompttest"
	"mara/runner/internal/testing/scripttest"
)

const (
	firstPassphrase  = "the first passphrase of all"
	secondPassphrase = "quite another passphrase"
	stateSecret      = "a secret in the state"
	fileSecret       = "a secret in the secrets file"
)

// secrets runs `runner secrets` with an input.
func (e *environment) secrets(want int, input string, args ...string) result {
	e.t.Helper()
	r := e.finish(e.command(append([]string{"secrets"}, args...)...), input)
	if r.code != want {
		e.t.Fatalf("secrets %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), r.code, want, r.stdout, r.stderr)
	}
	return r
}

// with returns the environment with other variables.
func (e *environment) with(variables ...string) *environment {
	other := *e
	other.env = append(slices.Clone(e.env), variables...)
	return &other
}

// TestSecretsForPlainPulumi: what the runner encrypts plain pulumi reads, and
// the other way round.
func TestSecretsForPlainPulumi(t *testing.T) {
	t.Parallel()
	long(t)
	eachEngine(t, []string{embedded, stock}, func(t *testing.T, e *environment) {
		e = e.with("PULUMI_CONFIG_PASSPHRASE=" + firstPassphrase)
		e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: kind\n")
		processes := watchProcesses(t, "generate")
		printed := e.secrets(0, fileSecret+"\n", "set", "prometheus:admin_password", "-")
		generated := e.secrets(0, "", "generate")
		e.pulumi(0, "secrets", "", "stack", "init", "dev")
		if got := e.pulumi(0, "secrets", "", "config", "get", "prometheus:admin_password").stdout; got != fileSecret+"\n" {
			t.Errorf("plain pulumi reads %q", got)
		}
		if got := e.pulumi(0, "secrets", "", "config", "get", "bank-of-anthos:jwt_private_key").stdout; !strings.HasPrefix(got, "-----BEGIN PRIVATE KEY-----\n") || !strings.HasSuffix(got, "-----END PRIVATE KEY-----\n\n") {
			t.Errorf("plain pulumi reads a key of %d bytes, which is not the PEM text", len(got))
		}
		e.pulumi(0, "secrets", "set by plain pulumi", "config", "set", "--secret", "harbor:admin_password")
		e.secrets(0, "", "export", "--to-file", "plain.yaml")
		content, err := os.ReadFile(filepath.Join(e.root, "plain.yaml"))
		if err != nil || !strings.Contains(string(content), "harbor:admin_password: set by plain pulumi\n") {
			t.Errorf("the export has not what plain pulumi has set: %v", err)
		}
		_ = os.Remove(filepath.Join(e.root, "plain.yaml"))
		var values map[string]string
		if err := yaml.Unmarshal(content, &values); err != nil || len(values) != 5 {
			t.Fatalf("%d values were exported, %v", len(values), err)
		}
		values["the passphrase"] = firstPassphrase
		searchFor(t, values, map[string][]byte{
			"the output": []byte(printed.stdout + printed.stderr + generated.stdout + generated.stderr), "process arguments": processes(),
		})
		searchFor(t, values, everyFileBelow(t, e.root))
	})
}

// TestSecretsAtATerminal: a user types the secrets, and is interrupted.
func TestSecretsAtATerminal(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{false, true} {
		e := newEnvironment(t, embedded).with("TERM=dumb")
		person, side := prompttest.Open(t)
		cmd := e.command("secrets", "set", "prometheus:admin_password")
		cmd.Stdin, cmd.Stderr = side, side
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for _, step := range [][2]string{
			{"Choose a passphrase for the secrets of dev:", firstPassphrase}, {"Repeat it:", firstPassphrase},
			{"Grafana administrator password", fileSecret},
		} {
			person.Expect(step[0])
			person.Type(step[1] + "\r")
		}
		last := fileSecret + "\r"
		if interrupted {
			last = "x\x03"
		}
		person.Type(last)
		_ = cmd.Wait()
		_, missing := os.Stat(filepath.Join(e.root, "config/pulumi/secrets"))
		want := map[bool]int{false: 0, true: 130}[interrupted]
		if code := cmd.ProcessState.ExitCode(); code != want || (missing != nil) != interrupted {
			t.Errorf("exit code %d, want %d; the file: %v\n%s", code, want, missing, person.Screen())
		}
		if screen := person.Screen(); strings.Contains(screen, firstPassphrase) || strings.Contains(screen, fileSecret) {
			t.Errorf("the screen shows what was typed: %q", screen)
		}
	}
}

// TestKeyService encrypts with a key service, named in the stack file by hand.
func TestKeyService(t *testing.T) {
	t.Parallel()
	long(t)
	eachEngine(t, []string{embedded, stock}, func(t *testing.T, e *environment) {
		v := newVault(t, e)
		e.write("config/pulumi/Pulumi.dev.yaml", "secretsprovider: hashivault://mara\nconfig:\n  kubernetes:infra_type: kind\n")
		refused := e.with("VAULT_SERVER_TOKEN=wrong").secrets(3, fileSecret, "set", "prometheus:admin_password", "-")
		if !strings.Contains(refused.stderr, "hashivault://mara") || !strings.Contains(refused.stderr, "permission denied") || strings.Contains(refused.stderr, fileSecret) {
			t.Errorf("a key service that refuses: %s", refused.stderr)
		}
		if _, err := os.Stat(filepath.Join(e.root, "config/pulumi/secrets")); err == nil {
			t.Error("something is left")
		}
		e.secrets(0, fileSecret, "set", "prometheus:admin_password", "-")
		e.secrets(0, "", "generate", "bank-of-anthos:jwt_private_key")
		content, err := os.ReadFile(filepath.Join(e.root, "config/pulumi/secrets/Pulumi.dev.yaml"))
		if err != nil || !strings.Contains(string(content), "secretsprovider: hashivault://mara\nencryptedkey: ") || strings.Contains(string(content), "encryptionsalt") {
			t.Errorf("the file does not say how it is encrypted: %v\n%s", err, content)
		}
		if v.used() != 1 {
			t.Errorf("%d data keys were made for one file", v.used())
		}
		e.pulumi(0, "secrets", "", "stack", "init", "dev", "--secrets-provider", "hashivault://mara")
		if got := e.pulumi(0, "secrets", "", "config", "get", "prometheus:admin_password").stdout; got != fileSecret+"\n" {
			t.Errorf("plain pulumi reads %q", got)
		}
		if got := e.pulumi(0, "secrets", "", "config", "get", "bank-of-anthos:jwt_private_key").stdout; !strings.HasSuffix(got, "-----END PRIVATE KEY-----\n\n") {
			t.Error("the line end of the key got lost")
		}
	})
}

// deployedSecret makes a state of a project, with a secret in it.
func (e *environment) deployedSecret(project string) {
	e.t.Helper()
	e.pulumi(0, project, "", "stack", "init", "dev")
	var exported map[string]any
	if err := json.Unmarshal([]byte(e.pulumi(0, project, "", "stack", "export").stdout), &exported); err != nil {
		e.t.Fatal(err)
	}
	exported["deployment"].(map[string]any)["resources"] = []any{map[string]any{
		"urn": "urn:pulumi:dev::" + project + "::pulumi:pulumi:Stack::" + project + "-dev", "type": "pulumi:pulumi:Stack", "custom": false,
		"outputs": map[string]any{"large": 9007199254740993, "password": map[string]any{
			"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": `"` + stateSecret + `"`,
		}},
	}}
	content, err := json.Marshal(exported)
	if err != nil {
		e.t.Fatal(err)
	}
	e.pulumi(0, project, string(content), "stack", "import")
}

// checkState holds that a state can be read, and that its secret is encrypted.
func (e *environment) checkState(project string) {
	e.t.Helper()
	if got := e.pulumi(0, project, "", "stack", "output", "--show-secrets", "password").stdout; got != stateSecret+"\n" {
		e.t.Errorf("the output of %s is %q", project, got)
	}
}

// TestChangeProvider from one passphrase to another, to a key service, and back.
// TestChangeProviderIsKilled does it with the stock CLI.
func TestChangeProvider(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, embedded)
	v := newVault(t, e)
	e = e.with("FIRST="+firstPassphrase, "SECOND="+secondPassphrase)
	first, second := e.with("PULUMI_CONFIG_PASSPHRASE="+firstPassphrase), e.with("PULUMI_CONFIG_PASSPHRASE="+secondPassphrase)
	e.write("config/pulumi/Pulumi.dev.yaml", "# mine\nconfig:\n  kubernetes:infra_type: kind # stays\n")
	projects := []string{"certmgr", "logstore"}
	for _, project := range projects {
		first.deployedSecret(project)
	}
	first.secrets(0, fileSecret, "set", "prometheus:admin_password", "-")
	processes := watchProcesses(t, "change-provider")
	printed := ""
	for _, step := range []struct {
		from, to *environment
		args     []string
	}{
		{first, second, []string{"passphrase", "--new-passphrase", "env:SECOND"}},
		{second, e, []string{"hashivault://mara"}},
		{e, e, []string{"hashivault://other"}},
		{e, first, []string{"passphrase", "--new-passphrase", "env:FIRST"}},
	} {
		r := step.from.secrets(0, "", append([]string{"change-provider", "--yes"}, step.args...)...)
		printed += r.stdout + r.stderr
		for _, project := range projects {
			if !strings.Contains(r.stdout, "encrypted the state of "+project+"\n") {
				t.Errorf("%v: %s", step.args, r.stdout)
			}
			step.to.checkState(project)
		}
		step.to.secrets(0, "", "export", "--to-file", "plain.yaml", "--yes")
		plain := filepath.Join(e.root, "plain.yaml")
		if content, err := os.ReadFile(plain); err != nil || !strings.Contains(string(content), fileSecret) {
			t.Errorf("%v: the secrets file has not what it had: %v", step.args, err)
		}
		_ = os.Remove(plain)
	}
	stack, err := os.ReadFile(filepath.Join(e.root, "config/pulumi/Pulumi.dev.yaml"))
	if text := string(stack); err != nil || strings.Contains(text, "vault") || !strings.HasPrefix(text, "# mine\nencryptionsalt: ") || !strings.HasSuffix(text, "infra_type: kind # stays\n") {
		t.Errorf("the stack file is not as it was: %v\n%s", err, text)
	}
	if v.used() != 2 {
		t.Errorf("%d data keys were made for two key services", v.used())
	}
	secrets := map[string]string{"the first passphrase": firstPassphrase, "the second": secondPassphrase, "the state's": stateSecret, "the file's": fileSecret}
	searchFor(t, secrets, map[string][]byte{"the output": []byte(printed), "process arguments": processes()})
	searchFor(t, secrets, everyFileBelow(t, e.root))
}

// everyFileBelow reads every file.
func everyFileBelow(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	if err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files[path], err = os.ReadFile(path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(files) < 3 {
		t.Fatalf("only %d files to search", len(files))
	}
	return files
}

// TestChangeProviderIsKilled before, between and behind the states. Nothing else
// works on the environment until the same command has resumed it.
func TestChangeProviderIsKilled(t *testing.T) {
	t.Parallel()
	long(t)
	projects := []string{"certmgr", "logstore"}
	before := newEnvironment(t, embedded)
	before.encrypt(projects)
	for when, refused := range killedChanges() {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			e := emptyEnvironment(t)
			if err := os.CopyFS(e.root, os.DirFS(before.root)); err != nil {
				t.Fatal(err)
			}
			e.killChange(when, projects, refused)
		})
	}
}

// killedChanges returns what is refused after a change that was killed at a moment.
func killedChanges() map[string][]string {
	return map[string][]string{
		"before import 1": {"refresh"},
		"behind import 1": {"destroy --yes", "outputs"},
		"behind import 2": {"secrets generate"},
	}
}

// encrypt encrypts states and a file with the first passphrase.
func (e *environment) encrypt(projects []string) {
	e.t.Helper()
	first := e.with("PULUMI_CONFIG_PASSPHRASE=" + firstPassphrase)
	first.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: kind\n")
	for _, project := range projects {
		first.deployedSecret(project)
	}
	first.secrets(0, fileSecret, "set", "prometheus:admin_password", "-")
}

// killChange kills a change of the passphrase, and completes it.
func (e *environment) killChange(when string, projects, refused []string) {
	t := e.t
	t.Helper()
	e = e.with("SECOND=" + secondPassphrase)
	first, second := e.with("PULUMI_CONFIG_PASSPHRASE="+firstPassphrase), e.with("PULUMI_CONFIG_PASSPHRASE="+secondPassphrase)
	change := []string{"change-provider", "passphrase", "--new-passphrase", "env:SECOND", "--yes"}
	doomed := first.with("RUNNER_PULUMI=" + e.killer(when))
	if r := doomed.finish(doomed.command(append([]string{"secrets"}, change...)...), ""); r.code != -1 {
		t.Fatalf("it was not killed: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, args := range refused {
		if r := first.run(strings.Fields(args)...); r.code != 3 || !strings.Contains(r.stderr, "runner secrets change-provider passphrase -s dev") {
			t.Errorf("%v in the middle of a change: exit code %d\n%s", args, r.code, r.stderr)
		}
	}
	r := first.secrets(0, "", change...)
	if strings.Count(r.stdout, "encrypted the state of") > 2 {
		t.Errorf("what was done was done again: %s", r.stdout)
	}
	for _, project := range projects {
		second.checkState(project)
	}
	second.secrets(0, "", "export", "--to-file", "plain.yaml")
	content, err := os.ReadFile(filepath.Join(e.root, "plain.yaml"))
	if diff := cmp.Diff("prometheus:admin_password: "+fileSecret+"\n", string(content)); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if r := second.secrets(0, "", "generate"); !strings.Contains(r.stdout, "made") {
		t.Errorf("the environment cannot be worked on again: %s", r.stderr)
	}
}

// killer writes a pulumi that kills the runner around one of its imports.
func (e *environment) killer(when string) string {
	e.t.Helper()
	before, number, _ := strings.Cut(when, " import ")
	pulumi := program(e.t, "pulumi")
	path := filepath.Join(e.root, "killer")
	scripttest.Write(e.t, path, `
case "$*" in
*"stack import"*)
	echo x >>"$0.count"
	if [ "$(wc -l <"$0.count")" -eq `+number+` ]; then
		if [ "`+before+`" = behind ]; then "`+pulumi+`" "$@"; fi
		kill -9 "$PPID"
		exit 1
	fi ;;
esac
exec "`+pulumi+`" "$@"`)
	return path
}
