package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/prompttest"
	"mara/runner/internal/wire"
)

// atTerminal returns a keeper with a terminal and no passphrase set.
func atTerminal(t *testing.T, files map[string]string) (*keeper, *prompttest.Terminal) {
	t.Helper()
	k := newKeeper(t, files)
	person, side := prompttest.Open(t)
	k.deps.Environ = k.deps.Environ[:2]
	k.deps.Stdin, k.deps.Stderr = side, side
	k.deps.StdinIsTerminal, k.deps.StderrIsTerminal = true, true
	return k, person
}

// start runs a command while a user types.
func (k *keeper) start(args ...string) (code func() int) {
	codes := make(chan int, 1)
	go func() { codes <- wire.Run(context.Background(), k.deps, args) }()
	return func() int { return <-codes }
}

// dialogue is what is asked, and what is answered.
type dialogue [][2]string

func (k *keeper) talk(person *prompttest.Terminal, talk dialogue) {
	k.t.Helper()
	for _, step := range talk {
		person.Expect(step[0])
		person.Type(step[1])
	}
}

// TestFirstSecret: a new user sets a secret in a fresh directory.
func TestFirstSecret(t *testing.T) {
	t.Parallel()
	k, person := atTerminal(t, nil)
	code := k.start("secrets", "set", "prometheus:admin_password")
	k.talk(person, dialogue{
		{"Choose a passphrase for the secrets of dev:", "\r"},
		{"is empty; for an empty passphrase", secretsPassphrase + "\r"},
		{"Repeat it:", "something else\r"},
		{"The two are different", secretsPassphrase + "\r"},
		{"Repeat it:", secretsPassphrase + "\r"},
		{"Grafana administrator password (at least 8 characters, empty to have one made):", "short\r"},
		{"That is shorter than 8 characters.", "long enough\r"},
		{"Repeat it:", "long enough\r"},
	})
	if got := code(); got != cmd.ExitDone {
		t.Fatalf("exit code %d\n%s", got, person.Screen())
	}
	if diff := cmp.Diff(map[string]string{"prometheus:admin_password": "long enough"}, k.values()); diff != "" {
		t.Error(diff)
	}
	for _, typed := range []string{secretsPassphrase, "long enough", "something else"} {
		if strings.Contains(person.Screen(), typed) {
			t.Errorf("the screen shows %q", typed)
		}
	}
}

// TestAskedForThePassphrase of an environment that has one: three tries.
func TestAskedForThePassphrase(t *testing.T) {
	t.Parallel()
	first := newKeeper(t, nil)
	first.run(0, "long enough", "set", "prometheus:admin_password", "-")
	const question = "Passphrase for the secrets of dev:"
	const wrong = "That is not the passphrase of dev."
	for _, test := range []struct {
		name string
		talk dialogue
		code int
	}{
		{"right", dialogue{{question, secretsPassphrase + "\r"}}, cmd.ExitDone},
		{"right at last", dialogue{{question, "a\r"}, {wrong, "b\r"}, {wrong, secretsPassphrase + "\r"}}, cmd.ExitDone},
		{"wrong", dialogue{{question, "a\r"}, {wrong, "b\r"}, {wrong, "c\r"}, {"error: the passphrase is wrong", ""}}, cmd.ExitConfig},
		{"interrupted", dialogue{{question, "a\x03"}}, cmd.ExitInterrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k, person := atTerminal(t, nil)
			cmdtest.WriteFile(t, k.path(), first.content())
			code := k.start("secrets", "generate", "harbor:admin_password")
			k.talk(person, test.talk)
			if got := code(); got != test.code {
				t.Errorf("exit code %d, want %d\n%s", got, test.code, person.Screen())
			}
			if test.code != cmd.ExitDone && k.content() != first.content() {
				t.Error("the file changed")
			}
			if test.code == cmd.ExitDone && len(k.values()) != 2 {
				t.Errorf("there are %d values", len(k.values()))
			}
		})
	}
}

// TestFreshCheckout of an environment that was deployed from elsewhere: its
// states know the passphrase.
func TestFreshCheckout(t *testing.T) {
	t.Parallel()
	key, err := encryption.NewKey(secretsPassphrase)
	if err != nil {
		t.Fatal(err)
	}
	k, person := atTerminal(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	backend := t.TempDir()
	k.deps.Environ = append(k.deps.Environ, "PULUMI_BACKEND_URL=file://"+backend)
	cmdtest.WriteFile(t, filepath.Join(backend, ".pulumi/stacks/kubeconfig/dev.json"), "{}")
	cmdtest.WriteFile(t, filepath.Join(backend, ".pulumi/stacks/kind-cluster/dev.json"),
		`{"version":3,"checkpoint":{"latest":{"secrets_providers":{"type":"passphrase","state":{"salt":"`+key.Salt()+`"}}}}}`)
	code := k.start("secrets", "generate", "prometheus:admin_password")
	k.talk(person, dialogue{
		{"Passphrase for the secrets of dev:", "wrong\r"},
		{"That is not the passphrase", secretsPassphrase + "\r"},
	})
	if got := code(); got != cmd.ExitDone || !strings.Contains(k.content(), "encryptionsalt: "+key.Salt()+"\n") {
		t.Errorf("exit code %d\n%s", got, person.Screen())
	}
}

// upTalk returns what a new user of kind is asked by up.
func upTalk() dialogue {
	return dialogue{
		{"Choose a passphrase for the secrets of dev:", secretsPassphrase + "\r"},
		{"Repeat it:", secretsPassphrase + "\r"},
		{"Grafana administrator password", "long enough\r"},
		{"Repeat it:", "long enough\r"},
		{"Bank of Anthos accounts database password", "\r"},
		{"made bank-of-anthos:accounts_db_password", "\r"},
		{"made bank-of-anthos:ledger_db_password", "nowhere.pem\r"},
		{"no such file or directory", "\r"},
	}
}

// TestUpAsksForSecrets and keeps all of them at once.
func TestUpAsksForSecrets(t *testing.T) {
	t.Parallel()
	k, person := atTerminal(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	k.deps = withInstalled(t, k.deps)
	code := k.start("up")
	k.talk(person, upTalk())
	if got := code(); got != cmd.ExitFailed { // the fake pulumi deploys nothing
		t.Errorf("exit code %d\n%s", got, person.Screen())
	}
	values := k.values()
	if len(values) != 4 || values["prometheus:admin_password"] != "long enough" || len(values["bank-of-anthos:ledger_db_password"]) < 32 {
		t.Errorf("%d values were kept", len(values))
	}
	if !strings.Contains(person.Screen(), "stored 4 secrets in config/pulumi/secrets/Pulumi.dev.yaml, encrypted") {
		t.Errorf("the message is missing: %q", person.Screen())
	}
	for _, value := range append([]string{secretsPassphrase}, valuesOf(values)...) {
		if strings.Contains(person.Screen(), value) {
			t.Error("the screen shows a value")
		}
	}
}

func valuesOf(values map[string]string) []string {
	var all []string
	for _, value := range values {
		all = append(all, value)
	}
	return all
}

// withInstalled adds a fake pulumi.
func withInstalled(t *testing.T, d cmd.Deps) cmd.Deps {
	t.Helper()
	other, _, _ := cmdtest.InstalledDeps(t, d.Dir, cmdtest.NewInstalled(t))
	d.Environ = append(slices.Clone(d.Environ), other.Environ...)
	return d
}

// TestUpIsInterruptedAtEveryQuestion and leaves nothing, not even the directory.
func TestUpIsInterruptedAtEveryQuestion(t *testing.T) {
	t.Parallel()
	for i := range upTalk() {
		t.Run(upTalk()[i][0], func(t *testing.T) {
			t.Parallel()
			k, person := atTerminal(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
			k.deps = withInstalled(t, k.deps)
			before := filesOf(t, k.root)
			code := k.start("up")
			talk := upTalk()[:i+1]
			talk[i][1] = "x\x03"
			k.talk(person, talk)
			if got := code(); got != cmd.ExitInterrupted {
				t.Errorf("exit code %d\n%s", got, person.Screen())
			}
			if diff := cmp.Diff(before, filesOf(t, k.root)); diff != "" {
				t.Error(diff)
			}
			for _, left := range []string{"config/pulumi/secrets", ".runner/environments"} {
				if _, err := os.Stat(filepath.Join(k.root, left)); err == nil {
					t.Errorf("%s is left", left)
				}
			}
		})
	}
}

// TestUpTakesSecrets from the command line, without a terminal.
func TestUpTakesSecrets(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	k.deps = withInstalled(t, k.deps)
	k.deps.Environ = append(k.deps.Environ, "GRAFANA=from a variable")
	cmdtest.WriteFile(t, filepath.Join(k.root, "db"), "from a file\n")
	up := func(want int, more ...string) string {
		t.Helper()
		k.stderr.Reset()
		k.deps.Stdin = strings.NewReader("from stdin\n")
		args := append([]string{"preview", "--secret", "prometheus:admin_password=env:GRAFANA", "--secret", "bank-of-anthos:accounts_db_password=@db",
			"--secret", "bank-of-anthos:ledger_db_password=-"}, more...)
		if code := wire.Run(context.Background(), k.deps, args); code != want {
			t.Fatalf("exit code %d, want %d: %s", code, want, k.stderr)
		}
		return k.stderr.String()
	}
	if text := up(cmd.ExitConfig); !strings.Contains(text, "jwt_private_key is missing") || strings.Contains(text, "admin_password") {
		t.Errorf("one is still missing: %s", text)
	}
	up(cmd.ExitFailed, "--generate-secrets")
	values := k.values()
	delete(values, "bank-of-anthos:jwt_private_key")
	want := map[string]string{
		"prometheus:admin_password": "from a variable", "bank-of-anthos:accounts_db_password": "from a file", "bank-of-anthos:ledger_db_password": "from stdin",
	}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Error(diff)
	}
	before := k.content()
	if text := up(cmd.ExitFailed); k.content() != before || strings.Contains(text, "stored") {
		t.Error("the same values were encrypted again")
	}
	if text := up(cmd.ExitUsage, "--simulate"); !strings.Contains(text, "a simulation generates its secrets") {
		t.Error(text)
	}
}

// TestGivenSecretsAreRefusedTogether: all that is wrong with them, at once.
func TestGivenSecretsAreRefusedTogether(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	k.deps = withInstalled(t, k.deps)
	k.deps.Environ = append(k.deps.Environ, "SHORT=hunter2")
	code := wire.Run(context.Background(), k.deps, []string{"preview", "--generate-secrets",
		"--secret", "prometheus:admin_password=env:SHORT", "--secret", "bank-of-anthos:ledger_db_password=@nowhere"})
	text := k.stderr.String()
	if code != cmd.ExitConfig || !strings.Contains(text, "2 problems") || !strings.Contains(text, "shorter than 8") || !strings.Contains(text, "nowhere") || strings.Contains(text, "hunter2") {
		t.Errorf("exit code %d: %s", code, text)
	}
	if _, err := os.Stat(filepath.Join(k.root, config.SecretsPath("dev"))); err == nil {
		t.Error("something was kept")
	}
}

// TestSecretFlagRefusesValues, and does not repeat them.
func TestSecretFlagRefusesValues(t *testing.T) {
	t.Parallel()
	const value = "hunter2-hunter2"
	for name, flags := range map[string][]string{
		"value":      {"prometheus:admin_password=" + value},
		"only value": {value},
		"no source":  {"prometheus:admin_password"},
		"unknown":    {"prometheus:admin_passwort=env:X"},
		"twice":      {"prometheus:admin_password=env:X", "prometheus:admin_password=env:Y"},
		"two stdins": {"prometheus:admin_password=-", "harbor:admin_password=-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t, nil)
			args := []string{"up", "-p", "kind"}
			for _, flag := range flags {
				args = append(args, "--secret", flag)
			}
			if code := wire.Run(context.Background(), k.deps, args); code != cmd.ExitUsage || strings.Contains(k.stderr.String(), value) {
				t.Errorf("exit code %d: %s", code, k.stderr)
			}
		})
	}
}
