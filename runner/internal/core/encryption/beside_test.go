package encryption_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"mara/config"
	"mara/runner/internal/core/encryption"
)

// ownStackFile returns a stack file next to a project, with a salt and a secret of its own.
func ownStackFile(t *testing.T, passphrase, secret string) config.StackFile {
	t.Helper()
	key, err := encryption.NewKey(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	value, err := key.Encrypt(secret)
	if err != nil {
		t.Fatal(err)
	}
	return config.StackFile{
		File: "app/Pulumi.dev.yaml", Content: []byte("encryptionsalt: " + key.Salt() + "\nconfig: {app:token: {secure: '" +
			value + "'}, app:size: 3}\n"),
	}
}

// TestPrepareBeside: what is encrypted beside a project is masked, and a
// passphrase that does not open it is found before anything changes.
func TestPrepareBeside(t *testing.T) {
	t.Parallel()
	o := places(t)
	o.ProjectStackFiles, o.ProjectsEncrypt = map[string]config.StackFile{"app": ownStackFile(t, right, "hunter2")}, true
	if copies := prepare(t, o); !slices.Contains(copies.Known, "hunter2") {
		t.Errorf("the values known are %q", copies.Known)
	}
	if _, err := os.Stat(o.SaltFile); err == nil {
		t.Error("a salt is kept that encrypts nothing")
	}
	if verified, err := encryption.Verify(o); err != nil || !slices.Equal(verified.Opened,
		[]string{"app/Pulumi.dev.yaml"}) {
		t.Errorf("opened %v, %v", verified.Opened, err)
	}
	o.ProjectStackFiles["shop"] = ownStackFile(t, "another", "hunter3")
	if _, err := encryption.Prepare(o); !errors.Is(err, encryption.ErrPassphrase) ||
		!strings.Contains(err.Error(), "app/Pulumi.dev.yaml") {
		t.Errorf("a file with another passphrase: %v", err)
	}
	o.Env = nil
	if _, err := encryption.Prepare(o); !errors.Is(err, encryption.ErrNoPassphrase) {
		t.Errorf("without a passphrase: %v", err)
	}
}

// TestAnotherPassphraseBeside: if the passphrase opens the files of the environment, but not the
// file of a project, the error proposes what helps. It proposed to set the other passphrase.
func TestAnotherPassphraseBeside(t *testing.T) {
	t.Parallel()
	o := places(t)
	o.ProjectStackFiles = map[string]config.StackFile{"shop": ownStackFile(t, "another", "hunter3")}
	_, err := encryption.Prepare(o)
	for _, want := range []string{"app/Pulumi.dev.yaml", "set PULUMI_CONFIG_PASSPHRASE_SHOP to it", "--skip", "`pulumi stack change-secrets-provider passphrase`"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "set PULUMI_CONFIG_PASSPHRASE or") {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	o.ProjectStackFiles["app"] = ownStackFile(t, right, "hunter2")
	if _, err := encryption.Verify(o); err == nil || !strings.Contains(err.Error(), "--skip") {
		t.Errorf("Verify: %v", err)
	}
}

// TestPassphraseOfProject: a variable has the passphrase of one project's file, in front of the environment's.
func TestPassphraseOfProject(t *testing.T) {
	t.Parallel()
	o := places(t)
	o.Keys = &encryption.Keyring{}
	o.ProjectStackFiles = map[string]config.StackFile{"own-shop": ownStackFile(t, "another", "hunter3")}
	o.Env["PULUMI_CONFIG_PASSPHRASE_OWN_SHOP"] = "another"
	if copies := prepare(t, o); !slices.Contains(copies.Known, "hunter3") || !slices.Contains(copies.Known, "another") {
		t.Errorf("the values known are %q", copies.Known)
	}
	if keys := o.Keys.Keys(); len(keys) != 2 {
		t.Errorf("%d keys are given to the engine", len(keys))
	}
	if verified, err := encryption.Verify(o); err != nil || !slices.Contains(verified.Opened, "app/Pulumi.dev.yaml") {
		t.Errorf("opened %v, %v", verified.Opened, err)
	}
	o.Env["PULUMI_CONFIG_PASSPHRASE_OWN_SHOP"] = "wrong"
	if _, err := encryption.Prepare(o); !errors.Is(err, encryption.ErrPassphrase) ||
		!strings.Contains(err.Error(), "app/Pulumi.dev.yaml was encrypted with another one than that in PULUMI_CONFIG_PASSPHRASE_OWN_SHOP") {
		t.Errorf("a wrong passphrase: %v", err)
	}
	// Nothing else is encrypted: no other passphrase is asked for.
	o.Env, o.ProjectsEncrypt = map[string]string{"PULUMI_CONFIG_PASSPHRASE_OWN_SHOP": "another"}, true
	prepare(t, o)
	schemes, err := encryption.SchemesOf(o)
	if _, needed := schemes.Passphrase(o); err != nil || needed {
		t.Errorf("another passphrase is needed: %t, %v", needed, err)
	}
	if encryption.HasPassphrase(map[string]string{"PULUMI_CONFIG_PASSPHRASE_FILE": "/x"}, "file") {
		t.Error("Pulumi's own variable is taken for a project's")
	}
}

// TestPrepareCovered: if a key service encrypts the stack files of all projects, no command
// needs a passphrase.
func TestPrepareCovered(t *testing.T) {
	t.Parallel()
	o := places(t)
	o.Env, o.ProjectsEncrypt = nil, true
	o.ProjectStackFiles = map[string]config.StackFile{"app": {File: "app/Pulumi.dev.yaml", Content: []byte("secretsprovider: " +
		"awskms://a\nencryptedkey: x\n")}}
	prepare(t, o)
	schemes, err := encryption.SchemesOf(o)
	if _, needed := schemes.Passphrase(o); err != nil || needed {
		t.Errorf("a passphrase is needed: %t, %v", needed, err)
	}
	o.ProjectsEncrypt = false
	if _, err := encryption.Prepare(o); !errors.Is(err, encryption.ErrNoPassphrase) {
		t.Errorf("with a project that has no such file: %v", err)
	}
}

// TestSimulateBeside: a simulation makes up what it cannot read beside a project.
func TestSimulateBeside(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]config.StackFile{
		"passphrase": ownStackFile(t, "another", "hunter2"),
		"key service": {File: "app/Pulumi.dev.yaml", Content: []byte("secretsprovider: awskms://a\nencryptedkey: " +
			"x\nconfig: {app:token: {secure: abc}, app:list: [{secure: abc}]}\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := places(t)
			o.ProjectStackFiles, o.Simulate = map[string]config.StackFile{"app": file}, &encryption.ThrowAway{File: o.SaltFile + ".secrets"}
			copies := prepare(t, o)
			content, err := copies.Over(file)
			if err != nil {
				t.Fatal(err)
			}
			made := read(t, content)
			key, err := encryption.OpenKey(right, made.Salt)
			if err != nil || made.Provider != "" || made.DataKey != "" {
				t.Fatalf("encrypted as %+v: %v", made, err)
			}
			token, _ := made.Config["app:token"].(map[string]any)["secure"].(string)
			if value, err := key.Decrypt(token); value != "SIMULATED-apptoken" {
				t.Errorf("the secret is %q, %v", value, err)
			}
		})
	}
}
