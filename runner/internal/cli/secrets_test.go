package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// secretsPassphrase is the passphrase of environments in tests.
const secretsPassphrase = "correct horse battery staple"

// keeper is a user who works with the secrets of an environment, without a
// terminal.
type keeper struct {
	t              *testing.T
	root           string
	deps           cmd.Deps
	stdout, stderr *bytes.Buffer
}

func newKeeper(t *testing.T, files map[string]string) *keeper {
	t.Helper()
	k := &keeper{t: t, root: cmdtest.Root(t, files)}
	k.deps, k.stdout, k.stderr = cmdtest.Deps(t)
	k.deps.Dir = k.root
	k.deps.Environ = []string{"HOME=" + t.TempDir(), "PULUMI_STACK=dev", "PULUMI_CONFIG_PASSPHRASE=" + secretsPassphrase}
	return k
}

// run runs a command about secrets.
func (k *keeper) run(want int, stdin string, args ...string) (stdout, stderr string) {
	k.t.Helper()
	k.stdout.Reset()
	k.stderr.Reset()
	k.deps.Stdin = strings.NewReader(stdin)
	if code := wire.Run(context.Background(), k.deps, append([]string{"secrets"}, args...)); code != want {
		k.t.Fatalf("secrets %v: exit code %d, want %d\n%s%s", args, code, want, k.stdout, k.stderr)
	}
	return k.stdout.String(), k.stderr.String()
}

func (k *keeper) path() string { return filepath.Join(k.root, "config/pulumi/secrets/Pulumi.dev.yaml") }

func (k *keeper) content() string {
	k.t.Helper()
	content, err := os.ReadFile(k.path())
	if err != nil {
		k.t.Fatal(err)
	}
	return string(content)
}

// values decrypts the secrets file.
func (k *keeper) values() map[string]string {
	k.t.Helper()
	file, err := config.ReadSecrets(k.root, "dev")
	if err != nil {
		k.t.Fatal(err)
	}
	var header struct {
		Salt string `yaml:"encryptionsalt"`
	}
	if err := yaml.Unmarshal(file.Content, &header); err != nil {
		k.t.Fatal(err)
	}
	key, err := encryption.OpenKey(secretsPassphrase, header.Salt)
	if err != nil {
		k.t.Fatal(err)
	}
	values := map[string]string{}
	for _, entry := range file.Entries {
		ciphertext, encrypted := entry.Value.(config.Ciphertext)
		if !encrypted {
			continue
		}
		if values[entry.Key], err = key.Decrypt(string(ciphertext)); err != nil {
			k.t.Fatal(err)
		}
	}
	return values
}

func TestSecretsSetFromEverywhere(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, map[string]string{"environment": "FROM_FILE=from the environment file\n"})
	k.deps.Environ = append(k.deps.Environ, "FROM_PROCESS=from the process")
	cmdtest.WriteFile(t, filepath.Join(k.root, "value"), "from a file\r\n")
	for _, test := range []struct{ source, stdin, want string }{
		{"-", "from stdin\n", "from stdin"},
		{"-", " spaces stay ", " spaces stay "},
		{"@value", "", "from a file"},
		{"@" + filepath.Join(k.root, "value"), "", "from a file"},
		{"env:FROM_FILE", "", "from the environment file"},
		{"env:FROM_PROCESS", "", "from the process"},
	} {
		stdout, stderr := k.run(0, test.stdin, "set", "prometheus:admin_password", test.source)
		if got := k.values()["prometheus:admin_password"]; got != test.want {
			t.Errorf("%s: got %q, want %q", test.source, got, test.want)
		}
		if strings.Contains(stdout+stderr+k.content(), strings.TrimSpace(test.want)) {
			t.Errorf("%s: the value is shown: %s%s", test.source, stdout, stderr)
		}
	}
	info, err := os.Stat(k.path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if !strings.HasPrefix(k.content(), "# The values of the secrets project, encrypted") {
		t.Errorf("the file does not say what it is: %s", k.content())
	}
}

// TestSecretsChangeNothingElse holds that a file stays as it is byte for byte,
// but for the value that is set.
func TestSecretsChangeNothingElse(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, nil)
	k.run(0, "first value", "set", "prometheus:admin_password", "-")
	ciphertext := strings.TrimSpace(k.content()[strings.LastIndex(k.content(), "secure:")+len("secure:"):])
	salt := strings.TrimSpace(strings.Split(strings.Split(k.content(), "encryptionsalt: ")[1], "\n")[0])
	before := "# mine\nconfig:   # all of them\n  other:key: 1.30 # stays\n\n  prometheus:admin_password: {secure: " + ciphertext + "}   # Grafana\n# end\nencryptionsalt: " + salt + " # old\n"
	cmdtest.WriteFile(t, k.path(), before)
	k.run(0, "second value", "set", "prometheus:admin_password", "-")
	if k.values()["prometheus:admin_password"] != "second value" {
		t.Errorf("the values are %v", k.values())
	}
	for _, line := range []string{"# mine\n", "config:   # all of them\n", "  other:key: 1.30 # stays\n\n", "# Grafana\n", "# end\nencryptionsalt: " + salt + " # old\n"} {
		if !strings.Contains(k.content(), line) {
			t.Errorf("%q is gone:\n%s", line, k.content())
		}
	}
	k.run(0, "", "remove", "prometheus:admin_password", "--yes")
	if want := "# mine\nconfig:   # all of them\n  other:key: 1.30 # stays\n\n# end\nencryptionsalt: " + salt + " # old\n"; k.content() != want {
		t.Errorf("after the removal: %s", cmp.Diff(want, k.content()))
	}
}

// TestSecretsRefuse: one error, which never shows what may be a value, and the
// file as it was.
func TestSecretsRefuse(t *testing.T) {
	t.Parallel()
	const value = "hunter2-hunter2"
	first := newKeeper(t, nil)
	first.run(0, value, "set", "harbor:admin_password", "-")
	for _, test := range []struct {
		name, stdin string
		args        string
		code        int
		want        string
	}{
		{"a value as an argument", "", "set prometheus:admin_password " + value, cmd.ExitUsage, "a value never stands on the command line"},
		{"a value behind =", "", "set prometheus:admin_password=" + value, cmd.ExitUsage, "a value never stands on the command line"},
		{"a value for a key", "", "set " + value, cmd.ExitUsage, "name the secret by its key"},
		{"too much", "", "set prometheus:admin_password - " + value, cmd.ExitUsage, "too many arguments"},
		{"no key", "", "set", cmd.ExitUsage, "name the secret"},
		{"unknown key", "", "set prometheus:admin_pasword -", cmd.ExitUsage, `did you mean "prometheus:admin_password"?`},
		{"no terminal", "", "set prometheus:admin_password", cmd.ExitUsage, "no terminal to ask on"},
		{"empty", "", "set prometheus:admin_password -", cmd.ExitConfig, "prometheus:admin_password from -: the value is empty"},
		{"an empty line", "\n", "set prometheus:admin_password -", cmd.ExitConfig, "is empty"},
		{"short", "hunter2", "set prometheus:admin_password -", cmd.ExitConfig, "is shorter than 8 characters"},
		{"two lines", value + "\n" + value, "set prometheus:admin_password -", cmd.ExitConfig, "line break"},
		{"no key for a key", value, "set bank-of-anthos:jwt_private_key -", cmd.ExitConfig, "is not in PEM form"},
		{"missing file", "", "set prometheus:admin_password @nowhere", cmd.ExitConfig, "no such file"},
		{"directory", "", "set prometheus:admin_password @config", cmd.ExitConfig, "is a directory"},
		{"endless file", "", "set prometheus:admin_password @/dev/zero", cmd.ExitConfig, "1 MiB"},
		{"missing variable", "", "set prometheus:admin_password env:NOWHERE", cmd.ExitConfig, "is not set"},
		{"generate what is there", "", "generate harbor:admin_password", cmd.ExitUsage, "runner secrets rotate harbor:admin_password"},
		{"rotate without a yes", "", "rotate harbor:admin_password", cmd.ExitUsage, "--yes"},
		{"rotate nothing", "", "rotate", cmd.ExitUsage, "name the secrets"},
		{"rotate what is missing", "", "rotate prometheus:admin_password --yes", cmd.ExitUsage, "runner secrets generate"},
		{"remove without a yes", "", "remove harbor:admin_password", cmd.ExitUsage, "--yes"},
		{"remove what is not there", "", "remove harbor:admin_passwort --yes", cmd.ExitUsage, `did you mean "harbor:admin_password"?`},
		{"export to the screen", "", "export", cmd.ExitUsage, "--to-file"},
		{"export to stdout", "", "export --to-file -", cmd.ExitUsage, "--to-file"},
		{"export into a missing directory", "", "export --to-file nowhere/x", cmd.ExitConfig, "nothing was written"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t, nil)
			cmdtest.WriteFile(t, k.path(), first.content())
			before, files := k.content(), filesOf(t, k.root)
			stdout, stderr := k.run(test.code, test.stdin, strings.Fields(test.args)...)
			if !strings.Contains(stderr, test.want) || strings.Count(stderr, "error:") != 1 || stdout != "" {
				t.Errorf("want %q in\n%s%s", test.want, stdout, stderr)
			}
			if strings.Contains(stderr, value) || strings.Contains(stderr, "hunter2") {
				t.Errorf("a value is shown: %s", stderr)
			}
			if diff := cmp.Diff(files, filesOf(t, k.root)); k.content() != before || diff != "" {
				t.Errorf("something changed: %s", diff)
			}
		})
	}
}

// filesOf lists the files below a directory, apart from the runner's own.
func filesOf(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.Contains(path, ".runner") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestSecretsGenerateAndRotate(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	k.run(0, "my own password", "set", "prometheus:admin_password", "-")
	stdout, _ := k.run(0, "", "generate")
	if want := "made bank-of-anthos:accounts_db_password\nmade bank-of-anthos:ledger_db_password\nmade bank-of-anthos:jwt_private_key\n"; stdout != want {
		t.Errorf("got %q", stdout)
	}
	first := k.values()
	if len(first) != 4 || first["prometheus:admin_password"] != "my own password" || !strings.Contains(first["bank-of-anthos:jwt_private_key"], "PRIVATE KEY-----\n") {
		t.Errorf("the values are not what was asked for: %d of them", len(first))
	}
	if stdout, _ := k.run(0, "", "generate"); stdout != "nothing is missing\n" {
		t.Errorf("got %q", stdout)
	}
	k.run(0, "", "rotate", "bank-of-anthos:ledger_db_password", "--yes")
	second := k.values()
	for key, value := range second {
		if (value != first[key]) != (key == "bank-of-anthos:ledger_db_password") {
			t.Errorf("%s: changed is %v", key, value != first[key])
		}
	}
}

func TestSecretsList(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	k.run(0, "", "generate", "prometheus:admin_password")
	cmdtest.WriteFile(t, k.path(), k.content()+"  harbor:admin_password: {secure: v1:x:y}\n  bank-of-anthos:ledger_db_password: hunter2hunter2\n")
	k.deps.Environ = k.deps.Environ[:2] // no passphrase
	stdout, _ := k.run(0, "", "list", "-o", "json")
	var listed []struct{ Key, State string }
	if err := json.Unmarshal([]byte(stdout), &listed); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, secret := range listed {
		states[secret.Key] = secret.State
	}
	want := map[string]string{
		"prometheus:admin_password": "set", "bank-of-anthos:accounts_db_password": "missing",
		"bank-of-anthos:ledger_db_password": "plain text", "bank-of-anthos:jwt_private_key": "missing", "harbor:admin_password": "unused",
		"certmgr:acme_dns_token": "optional",
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
	table, _ := k.run(0, "", "list")
	if !strings.HasPrefix(table, "SECRET") || !strings.Contains(table, "plain text") || strings.Contains(table+stdout, "hunter2") {
		t.Errorf("the table is\n%s", table)
	}
}

func TestSecretsExport(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, nil)
	k.run(0, "with: colon # and \"quotes\"", "set", "prometheus:admin_password", "-")
	k.run(0, "", "generate", "bank-of-anthos:jwt_private_key")
	file := filepath.Join(k.root, "plain.yaml")
	k.run(0, "", "export", "--to-file", "plain.yaml")
	checkExport := func() {
		t.Helper()
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := yaml.Unmarshal(content, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(k.values(), got); diff != "" {
			t.Error(diff)
		}
		info, err := os.Lstat(file)
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
	checkExport()
	if _, stderr := k.run(cmd.ExitUsage, "", "export", "--to-file", "plain.yaml"); !strings.Contains(stderr, "replacing plain.yaml needs confirmation") {
		t.Error(stderr)
	}
	// A file that others may read, and a link, are replaced and not filled.
	other := filepath.Join(k.root, "other")
	cmdtest.WriteFile(t, other, "mine")
	for _, prepare := range []func() error{
		func() error { return os.Chmod(file, 0o644) },
		func() error {
			_ = os.Remove(file)
			return os.Symlink(other, file)
		},
	} {
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
		k.run(0, "", "export", "--to-file", "plain.yaml", "--yes")
		checkExport()
	}
	if content, _ := os.ReadFile(other); string(content) != "mine" {
		t.Error("the export went through a link")
	}
	if left, _ := filepath.Glob(filepath.Join(k.root, ".plain.yaml.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSecretsPassphrase: without one, and with the wrong one.
func TestSecretsPassphrase(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, nil)
	k.run(0, "first value", "set", "prometheus:admin_password", "-")
	before := k.content()
	k.deps.Environ[2] = "PULUMI_CONFIG_PASSPHRASE=wrong"
	for _, args := range []string{"set prometheus:admin_password -", "generate", "rotate prometheus:admin_password --yes", "export --to-file x"} {
		if _, stderr := k.run(cmd.ExitConfig, "second value", strings.Fields(args)...); !strings.Contains(stderr, "the passphrase is wrong: config/pulumi/secrets/Pulumi.dev.yaml was encrypted") {
			t.Errorf("%s: %s", args, stderr)
		}
	}
	k.deps.Environ = k.deps.Environ[:2]
	if _, stderr := k.run(cmd.ExitConfig, "second value", "set", "prometheus:admin_password", "-"); !strings.Contains(stderr, "no passphrase is set") {
		t.Error(stderr)
	}
	if k.content() != before {
		t.Error("the file changed")
	}
	cmdtest.WriteFile(t, filepath.Join(k.root, "passphrase"), secretsPassphrase+"\n")
	k.deps.Environ = append(k.deps.Environ, "PULUMI_CONFIG_PASSPHRASE_FILE="+filepath.Join(k.root, "passphrase"))
	k.run(0, "second value", "set", "prometheus:admin_password", "-")
	if k.values()["prometheus:admin_password"] != "second value" {
		t.Error("the passphrase of a file was not taken")
	}
}

// TestSecretsShareTheSalt of the other projects, so that one key serves all.
func TestSecretsShareTheSalt(t *testing.T) {
	t.Parallel()
	key, err := encryption.NewKey(secretsPassphrase)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"stack file": "config/pulumi/Pulumi.dev.yaml", "salt file": ".runner/environments/dev.yaml"} {
		k := newKeeper(t, nil)
		cmdtest.WriteFile(t, filepath.Join(k.root, file), "encryptionsalt: "+key.Salt()+"\n")
		k.run(0, "", "generate", "prometheus:admin_password")
		if !strings.Contains(k.content(), "encryptionsalt: "+key.Salt()+"\n") {
			t.Errorf("%s: the secrets have another salt:\n%s", name, k.content())
		}
	}
}

// TestSecretsInAFolderThatCannotBeWritten leaves nothing.
func TestSecretsInADirThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, nil)
	cmdtest.WriteFile(t, filepath.Join(k.root, "config/pulumi/secrets"), "a file where a directory has to be")
	_, stderr := k.run(cmd.ExitConfig, "some value", "set", "prometheus:admin_password", "-")
	if !strings.Contains(stderr, "config/pulumi/secrets/Pulumi.dev.yaml") || strings.Contains(stderr, "some value") {
		t.Error(stderr)
	}
}
