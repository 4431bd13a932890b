package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/testing/cmdtest"
)

// plainValues opens an environment's files with a passphrase and returns their
// values by key.
func plainValues(t *testing.T, root, passphrase string) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, read := range []func(string, string) (config.StackFile, error){config.ReadStack, config.ReadSecrets} {
		file, err := read(root, "dev")
		if err != nil {
			t.Fatal(err)
		}
		header, err := file.Header()
		if err != nil {
			t.Fatal(err)
		}
		sealer, err := encryption.NewKeySealer(passphrase, encryption.Scheme{Salt: header.EncryptionSalt, File: file.File})
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range file.Entries {
			if ciphertext, ok := entry.Value.(config.Ciphertext); ok {
				opened, err := sealer.Unseal(t.Context(), map[string]string{entry.Key: string(ciphertext)})
				if err != nil {
					t.Fatal(err)
				}
				values[entry.Key] = opened[entry.Key]
			}
		}
	}
	return values
}

// withOwnSecret returns a keeper whose stack file has an encrypted value, too.
func withOwnSecret(t *testing.T) *keeper {
	t.Helper()
	k := newKeeper(t, nil)
	k.run(0, "in the secrets file", "set", "prometheus:admin_password", "-")
	key, err := encryption.OpenKey(secretsPassphrase, headerOf(t, k.path()).EncryptionSalt)
	if err != nil {
		t.Fatal(err)
	}
	ciphertext, err := key.Encrypt("in the stack file")
	if err != nil {
		t.Fatal(err)
	}
	cmdtest.WriteFile(t, filepath.Join(k.root, "config/pulumi/Pulumi.dev.yaml"),
		"# mine\nconfig:\n  kubernetes:infra_type: kind\n  aws:secretKey:\n    secure: "+ciphertext+" # why\n")
	return k
}

func headerOf(t *testing.T, path string) config.Header {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := config.ParseStack(path, content)
	if err != nil {
		t.Fatal(err)
	}
	header, err := file.Header()
	if err != nil {
		t.Fatal(err)
	}
	return header
}

// bothValues returns what withOwnSecret has put into the files.
func bothValues() map[string]string {
	return map[string]string{"prometheus:admin_password": "in the secrets file", "aws:secretKey": "in the stack file"}
}

// TestChangePassphrase of an environment that was never deployed.
func TestChangePassphrase(t *testing.T) {
	t.Parallel()
	k := withOwnSecret(t)
	cmdtest.WriteFile(t, filepath.Join(k.root, ".runner/environments/dev.yaml"), "encryptionsalt: "+headerOf(t, k.path()).EncryptionSalt+"\n")
	k.deps.Environ = append(k.deps.Environ, "NEW=another passphrase")
	stdout, _ := k.run(0, "", "change-provider", "passphrase", "--new-passphrase", "env:NEW", "--yes")
	want := "encrypted config/pulumi/Pulumi.dev.yaml\nencrypted config/pulumi/secrets/Pulumi.dev.yaml\nthe key provider of dev is passphrase\n" +
		"from now on use the new passphrase: change PULUMI_CONFIG_PASSPHRASE in the process environment\n"
	if diff := cmp.Diff(want, stdout); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(bothValues(), plainValues(t, k.root, "another passphrase")); diff != "" {
		t.Error(diff)
	}
	stack, err := os.ReadFile(filepath.Join(k.root, "config/pulumi/Pulumi.dev.yaml"))
	if text := string(stack); err != nil || !strings.HasPrefix(text, "# mine\nencryptionsalt: v1:") || !strings.HasSuffix(text, " # why\n") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, left := range []string{"dev.yaml", "dev.change.yaml"} {
		if _, err := os.Stat(filepath.Join(k.root, ".runner/environments", left)); err == nil {
			t.Errorf("%s is left", left)
		}
	}
	if _, stderr := k.run(cmd.ExitConfig, "some value", "set", "prometheus:admin_password", "-"); !strings.Contains(stderr, "the passphrase is wrong") {
		t.Errorf("the old passphrase: %s", stderr)
	}
}

// TestChangeCarriesOn from wherever it was interrupted, and until then nothing
// else touches the environment.
func TestChangeCarriesOn(t *testing.T) {
	t.Parallel()
	for _, files := range [][]string{{"config/pulumi/Pulumi.dev.yaml", "config/pulumi/secrets/Pulumi.dev.yaml"}, {"config/pulumi/secrets/Pulumi.dev.yaml"}, nil} {
		t.Run(strings.Join(files, " "), func(t *testing.T) {
			t.Parallel()
			k := withOwnSecret(t)
			before := map[string]string{}
			for _, file := range files {
				content, err := os.ReadFile(filepath.Join(k.root, file))
				if err != nil {
					t.Fatal(err)
				}
				before[file] = string(content)
			}
			k.deps.Environ = append(k.deps.Environ, "NEW=another passphrase", "OTHER=yet another")
			change := []string{"change-provider", "passphrase", "--new-passphrase", "env:NEW", "--yes"}
			k.run(0, "", change...)
			// As if it had been killed before these files were written:
			cmdtest.WriteFile(t, filepath.Join(k.root, ".runner/environments/dev.change.yaml"), "encryptionsalt: "+headerOf(t, k.path()).EncryptionSalt+"\n")
			for file, content := range before {
				cmdtest.WriteFile(t, filepath.Join(k.root, file), content)
			}
			for _, other := range []string{"set prometheus:admin_password -", "generate harbor:admin_password", "export --to-file x"} {
				_, stderr := k.run(cmd.ExitConfig, "some value", strings.Fields(other)...)
				if !strings.Contains(stderr, "is being changed to passphrase, and that was interrupted") || !strings.Contains(stderr, "runner secrets change-provider passphrase -s dev") {
					t.Errorf("%s: %s", other, stderr)
				}
			}
			if _, stderr := k.run(cmd.ExitConfig, "", "change-provider", "awskms://alias/x", "--yes"); !strings.Contains(stderr, "a change to the key provider passphrase has begun") {
				t.Error(stderr)
			}
			if _, stderr := k.run(cmd.ExitConfig, "", "change-provider", "passphrase", "--new-passphrase", "env:OTHER", "--yes"); !strings.Contains(stderr, "is not the one that the interrupted change has begun with") {
				t.Error(stderr)
			}
			k.run(0, "", change...)
			if diff := cmp.Diff(bothValues(), plainValues(t, k.root, "another passphrase")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestChangeRefuses before anything changes.
func TestChangeRefuses(t *testing.T) {
	t.Parallel()
	first := withOwnSecret(t)
	stack, err := os.ReadFile(filepath.Join(first.root, "config/pulumi/Pulumi.dev.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, args, environ string
		code                int
		want                string
	}{
		{"nothing named", "change-provider", "", cmd.ExitUsage, "name the key provider"},
		{"unknown", "change-provider vault://x", "", cmd.ExitUsage, "known are passphrase, default (that of Pulumi Cloud), awskms://"},
		{"no key", "change-provider awskms://", "", cmd.ExitUsage, "unknown key provider"},
		{"a passphrase as an argument", "change-provider passphrase --new-passphrase hunter2", "", cmd.ExitUsage, "a value never stands on the command line"},
		{"no terminal for the passphrase", "change-provider passphrase --yes", "", cmd.ExitUsage, "--new-passphrase"},
		{"no terminal to confirm", "change-provider passphrase --new-passphrase env:NEW", "NEW=new", cmd.ExitUsage, "--yes"},
		{"an empty passphrase", "change-provider passphrase --new-passphrase - --yes", "", cmd.ExitConfig, "is empty"},
		{"a passphrase that no file gives back", "change-provider passphrase --new-passphrase env:NEW --yes", "NEW=two words ", cmd.ExitConfig, "begins or ends with space"},
		{"a tab before it", "change-provider passphrase --new-passphrase env:NEW --yes", "NEW=\ttwo", cmd.ExitConfig, "control character"},
		{"the wrong old passphrase", "change-provider passphrase --new-passphrase env:NEW --yes", "PULUMI_CONFIG_PASSPHRASE=wrong", cmd.ExitConfig, "the passphrase is wrong"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t, map[string]string{"Pulumi.dev.yaml": string(stack)})
			cmdtest.WriteFile(t, k.path(), first.content())
			k.deps.Environ = append(k.deps.Environ, "NEW=new", test.environ)
			_, stderr := k.run(test.code, "", strings.Fields(test.args)...)
			if !strings.Contains(stderr, test.want) || strings.Contains(stderr, "hunter2") {
				t.Error(stderr)
			}
			after, err := os.ReadFile(filepath.Join(k.root, "config/pulumi/Pulumi.dev.yaml"))
			if err != nil || string(after) != string(stack) || k.content() != first.content() {
				t.Errorf("a file has changed: %v", err)
			}
			if _, err := os.Stat(filepath.Join(k.root, ".runner/environments/dev.change.yaml")); err == nil {
				t.Error("a change has begun")
			}
		})
	}
}

// TestChangeElsewhere: a value is not set while a change in another checkout, which shares the backend, is unfinished.
func TestChangeElsewhere(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, nil)
	k.deps.Environ = append(k.deps.Environ, config.BackendVariable+"=file://"+filepath.Join(k.root, "shared"))
	cmdtest.WriteFile(t, filepath.Join(k.root, "shared/.mara/changes/dev/change.json"), "secretsprovider: awskms://x\n")
	_, stderr := k.run(cmd.ExitConfig, "some value", "set", "prometheus:admin_password", "-")
	if !strings.Contains(stderr, "the key provider of dev is being changed to awskms://x, and that was interrupted") {
		t.Error(stderr)
	}
}

// TestChangeNotesSimulations: simulations that keep the old encryption are named, also where Pulumi compresses states.
func TestChangeNotesSimulations(t *testing.T) {
	t.Parallel()
	k := withOwnSecret(t)
	k.deps.Environ = append(k.deps.Environ, "NEW=another passphrase")
	cmdtest.WriteFile(t, filepath.Join(k.root, ".runner/simulated/state/.pulumi/stacks/vpc/dev.json.gz"), "x")
	stdout, _ := k.run(0, "", "change-provider", "passphrase", "--new-passphrase", "env:NEW", "--yes")
	if !strings.Contains(stdout, "simulations keep their old encryption") {
		t.Error(stdout)
	}
}
