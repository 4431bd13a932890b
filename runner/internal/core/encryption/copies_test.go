package encryption_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/core/encryption"
)

// places returns options that have nothing but places and a passphrase.
func places(t *testing.T) encryption.Options {
	t.Helper()
	return encryption.Options{
		Stack:    config.StackFile{File: "config/pulumi/Pulumi.dev.yaml"},
		Secrets:  config.StackFile{File: "config/pulumi/secrets/Pulumi.dev.yaml"},
		SaltFile: filepath.Join(t.TempDir(), "environments", "dev.yaml"),
		Provider: "kind",
		Env:      map[string]string{"PULUMI_CONFIG_PASSPHRASE": right},
	}
}

// document is a stack file as Pulumi reads it.
type document struct {
	Salt     string         `yaml:"encryptionsalt"`
	Provider string         `yaml:"secretsprovider"`
	DataKey  string         `yaml:"encryptedkey"`
	Imports  []string       `yaml:"environment"`
	Config   map[string]any `yaml:"config"`
}

func read(t *testing.T, content []byte) document {
	t.Helper()
	var d document
	if err := yaml.Unmarshal(content, &d); err != nil {
		t.Fatalf("a working copy is no YAML: %v\n%s", err, content)
	}
	return d
}

func prepare(t *testing.T, o encryption.Options) encryption.Copies {
	t.Helper()
	copies, err := encryption.Prepare(o)
	if err != nil {
		t.Fatal(err)
	}
	return copies
}

// TestPrepareSharesOneSalt: one key serves both files, wherever its salt is.
func TestPrepareSharesOneSalt(t *testing.T) {
	t.Parallel()
	salt := rightKey(t).Salt()
	salted := []byte("encryptionsalt: " + salt + "\n")
	for _, test := range []struct {
		name           string
		stack, secrets []byte
		file           []byte // the salt file
	}{
		{"in the stack file", salted, nil, nil},
		{"in the secrets file", nil, salted, nil},
		{"in both", salted, salted, nil},
		{"in the salt file", nil, []byte("# a comment\n"), salted},
		{"with the provider's name", append([]byte("secretsprovider: passphrase\n"), salted...), nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := places(t)
			o.Stack.Content, o.Secrets.Content = test.stack, test.secrets
			if test.file != nil {
				write(t, o.SaltFile, test.file)
			}
			copies := prepare(t, o)
			if got := read(t, copies.Stack).Salt; got != salt {
				t.Errorf("the stack file's salt is %q", got)
			}
			if got := read(t, copies.Secrets).Salt; got != salt {
				t.Errorf("the secrets file's salt is %q", got)
			}
			if !slices.Contains(copies.Known, right) {
				t.Error("the passphrase is not known to the masker")
			}
			if _, err := os.Stat(o.SaltFile); test.file == nil && err == nil {
				t.Error("a salt was kept though there was one already")
			}
		})
	}
}

// TestPrepareKnowsTheSecrets of both files, wherever the key is made, so that no
// program can say them before they are masked.
func TestPrepareKnowsTheSecrets(t *testing.T) {
	t.Parallel()
	key, other := rightKey(t), mustKey(t, "another passphrase")
	sealed := func(k *encryption.Key, value string) string {
		ciphertext, err := k.Encrypt(value)
		if err != nil {
			t.Fatal(err)
		}
		return "{secure: " + ciphertext + "}"
	}
	o := places(t)
	o.Stack.Content = []byte("encryptionsalt: " + key.Salt() + "\nconfig:\n  a:plain: visible\n  a:key: " +
		sealed(key, "hunter2") +
		"\n  a:deep:\n    list: [" + sealed(key, "swordfish") + "]\n  a:foreign: " + sealed(other, "unknown") + "\n")
	o.Secrets.Content = []byte("config:\n  b:key: " + sealed(key, "open sesame") + "\n")
	want := []string{right, "hunter2", "open sesame", "swordfish"}
	for name, keys := range map[string]*encryption.Keyring{"without a keyring": nil, "with one": {}} {
		o.Keys = keys
		for range 2 { // the second time the key is there
			known := prepare(t, o).Known
			slices.Sort(known)
			slices.Sort(want)
			if diff := cmp.Diff(want, known); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		if keys != nil && (len(keys.Keys()) != 1 || keys.Keys()[0].Salt() != key.Salt()) {
			t.Errorf("%s: %d keys", name, len(keys.Keys()))
		}
	}
}

func mustKey(t *testing.T, passphrase string) *encryption.Key {
	t.Helper()
	key, err := encryption.NewKey(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPrepareKeepsTwoSaltsApart(t *testing.T) {
	t.Parallel()
	other, err := encryption.NewKey(right)
	if err != nil {
		t.Fatal(err)
	}
	o := places(t)
	value, err := rightKey(t).Encrypt("hunter2")
	if err != nil {
		t.Fatal(err)
	}
	o.Stack.Content = []byte("encryptionsalt: " + rightKey(t).Salt() + "\nconfig:\n  c:d:\n    secure: " + value + "\n")
	o.Secrets.Content = []byte("encryptionsalt: " + other.Salt() + "\nconfig:\n  a:b:\n    secure: v1:x:y\n")
	copies := prepare(t, o)
	if got := read(t, copies.Stack).Salt; got != rightKey(t).Salt() {
		t.Errorf("the stack file's salt became %q", got)
	}
	if got := read(t, copies.Secrets).Salt; got != other.Salt() {
		t.Errorf("the secrets file's salt became %q", got)
	}
}

// TestPrepareDropsAnIdleSalt: a salt that plain Pulumi has added to the shared file, and
// that encrypts nothing, gives way to the salt of the secrets.
func TestPrepareDropsAnIdleSalt(t *testing.T) {
	t.Parallel()
	idle, err := encryption.NewKey(right)
	if err != nil {
		t.Fatal(err)
	}
	o := places(t)
	o.Stack.Content = []byte("encryptionsalt: " + idle.Salt() + "\nconfig:\n  a:b: plain\n")
	o.Secrets.Content = []byte("encryptionsalt: " + rightKey(t).Salt() + "\n")
	copies := prepare(t, o)
	if got := read(t, copies.Stack).Salt; got != rightKey(t).Salt() {
		t.Errorf("the copy of the stack file has the salt %q", got)
	}
	schemes, err := encryption.SchemesOf(o)
	if err != nil || schemes.Stack.Salt != rightKey(t).Salt() || schemes.Stack.File != o.Secrets.File {
		t.Errorf("the scheme of the stack file is %+v, %v", schemes.Stack, err)
	}
}

// TestSecretsUnderTwoSalts: secrets that are handed over are encrypted with the key of
// the shared file, where that has values of its own.
func TestSecretsUnderTwoSalts(t *testing.T) {
	t.Parallel()
	other, err := encryption.NewKey(right)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := rightKey(t).Encrypt("shared")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := other.Encrypt("hunter2")
	if err != nil {
		t.Fatal(err)
	}
	o := places(t)
	o.Own = []string{"app:token", "app:list"}
	o.Stack.Content = []byte("encryptionsalt: " + rightKey(t).Salt() + "\nconfig: {a:b: {secure: '" + shared + "'}}\n")
	o.Secrets.Content = []byte("encryptionsalt: " + other.Salt() + "\nconfig: {app:token: {secure: '" + secret +
		"'}, app:list: [plain, {secure: '" + secret + "'}]}\n")
	copied := read(t, prepare(t, o).Stack).Config
	sealed := func(value any) string { return fmt.Sprint(value.(map[string]any)["secure"]) }
	for name, ciphertext := range map[string]string{"token": sealed(copied["app:token"]),
		"list": sealed(copied["app:list"].([]any)[1])} {
		if text, err := rightKey(t).Decrypt(ciphertext); err != nil || text != "hunter2" {
			t.Errorf("%s: the key of the shared file decrypts %q, %v", name, text, err)
		}
	}
}

// TestPrepareMakesASaltOnce: a second run finds the salt of the first.
func TestPrepareMakesASaltOnce(t *testing.T) {
	t.Parallel()
	o := places(t)
	first := prepare(t, o)
	info, err := os.Stat(o.SaltFile)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the salt file: %v, %v", info, err)
	}
	second := prepare(t, o)
	if diff := cmp.Diff(string(first.Stack), string(second.Stack)); diff != "" {
		t.Error(diff)
	}
	o.Env = map[string]string{"PULUMI_CONFIG_PASSPHRASE": "another"}
	if _, err := encryption.Prepare(o); !errors.Is(err, encryption.ErrPassphrase) ||
		!strings.Contains(err.Error(), o.SaltFile) {
		t.Errorf("another passphrase later: %v", err)
	}
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	salted := []byte("encryptionsalt: " + rightKey(t).Salt() + "\n")
	wrong := map[string]string{"PULUMI_CONFIG_PASSPHRASE": "wrong-passphrase"}
	for _, test := range []struct {
		name   string
		change func(o *encryption.Options)
		is     error
		want   []string
	}{
		{"no passphrase", func(o *encryption.Options) { o.Env = nil },
			encryption.ErrNoPassphrase, []string{"PULUMI_CONFIG_PASSPHRASE", "config/pulumi/environment"}},
		{"no passphrase on Pulumi Cloud, but a salt", func(o *encryption.Options) {
			o.Env, o.Managed, o.Secrets.Content = nil, true, salted
		}, encryption.ErrNoPassphrase, nil},
		{"wrong for the stack file", func(o *encryption.Options) { o.Env, o.Stack.Content = wrong, salted },
			encryption.ErrPassphrase, []string{"config/pulumi/Pulumi.dev.yaml", "PULUMI_CONFIG_PASSPHRASE_FILE"}},
		{"wrong for the secrets file", func(o *encryption.Options) { o.Env, o.Secrets.Content = wrong, salted },
			encryption.ErrPassphrase, []string{"config/pulumi/secrets/Pulumi.dev.yaml"}},
		{"wrong for the secrets file alone", func(o *encryption.Options) {
			key, err := encryption.NewKey("another")
			if err != nil {
				t.Fatal(err)
			}
			o.Stack.Content, o.Secrets.Content = salted, []byte("encryptionsalt: "+key.Salt()+"\n")
		}, encryption.ErrPassphrase, []string{"config/pulumi/secrets/Pulumi.dev.yaml"}},
		{"wrong in a simulation", func(o *encryption.Options) {
			o.Env, o.Stack.Content, o.Simulate = wrong, salted, &encryption.ThrowAway{}
		}, encryption.ErrPassphrase, []string{"config/pulumi/Pulumi.dev.yaml"}},
		{"malformed salt", func(o *encryption.Options) { o.Stack.Content = []byte("encryptionsalt: salt\n") },
			nil, []string{"config/pulumi/Pulumi.dev.yaml", "not a salt"}},
		{"empty salt file", func(o *encryption.Options) { write(t, o.SaltFile, nil) },
			nil, []string{"dev.yaml", "not a salt"}},
		{"broken salt file", func(o *encryption.Options) { write(t, o.SaltFile, []byte("\tx")) },
			nil, []string{"dev.yaml"}},
		{"missing passphrase file", func(o *encryption.Options) {
			o.Env = map[string]string{"PULUMI_CONFIG_PASSPHRASE_FILE": "/nowhere/passphrase"}
		}, os.ErrNotExist, []string{"/nowhere/passphrase"}},
		{"broken stack file", func(o *encryption.Options) { o.Stack.Content = []byte("config: [") },
			nil, []string{"config/pulumi/Pulumi.dev.yaml"}},
		{"broken secrets file", func(o *encryption.Options) { o.Secrets.Content = []byte("- list") },
			nil, []string{"config/pulumi/secrets/Pulumi.dev.yaml", ":1:", "map"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := places(t)
			test.change(&o)
			_, err := encryption.Prepare(o)
			if err == nil || test.is != nil && !errors.Is(err, test.is) {
				t.Fatalf("got %v, want %v", err, test.is)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
			for _, passphrase := range []string{right, "wrong-passphrase"} {
				if strings.Contains(err.Error(), passphrase) {
					t.Errorf("the error tells the passphrase: %v", err)
				}
			}
		})
	}
}

// TestPrepareLeavesOtherEncryptionAlone: what a key service or the Pulumi
// Cloud encrypts needs no passphrase and gets no salt.
func TestPrepareLeavesOtherEncryptionAlone(t *testing.T) {
	t.Parallel()
	const cloud = "secretsprovider: awskms://alias/mara\nencryptedkey: QUJD\nconfig:\n  a:b:\n    secure: v1:x:y\n"
	kms := document{Provider: "awskms://alias/mara", DataKey: "QUJD"}
	salted := "encryptionsalt: " + rightKey(t).Salt() + "\n"
	for _, test := range []struct {
		name           string
		stack, secrets string
		managed        bool
		passphrase     bool
		want           [2]document // without their configuration
	}{
		{"a key service", cloud, cloud, false, false, [2]document{kms, kms}},
		{"a key service, and a passphrase", cloud, cloud, false, true, [2]document{kms, kms}},
		{"the secrets project inherits it", cloud, "", false, false, [2]document{kms, kms}},
		{"the secrets file has its own salt", cloud, salted, false, true, [2]document{kms, {Salt: rightKey(t).Salt()}}},
		{"the secrets file has its own service", salted, cloud, false, true, [2]document{{Salt: rightKey(t).Salt()}, kms}},
		{"Pulumi Cloud", "config:\n  a:b: c\n", "", true, false, [2]document{}},
		{"Pulumi Cloud by name", "secretsprovider: default\n", "", true, true,
			[2]document{{Provider: "default"}, {Provider: "default"}}},
		{"Pulumi Cloud with a salt in one file", "", salted, true, true, [2]document{{}, {Salt: rightKey(t).Salt()}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := places(t)
			o.Stack.Content, o.Secrets.Content, o.Managed = []byte(test.stack), []byte(test.secrets), test.managed
			if !test.passphrase {
				o.Env = nil
			}
			copies := prepare(t, o)
			got := [2]document{read(t, copies.Stack), read(t, copies.Secrets)}
			for i, content := range []string{test.stack, test.secrets} {
				if strings.Contains(content, "a:b") && got[i].Config["a:b"] == nil {
					t.Error("a value is gone")
				}
				got[i].Config = nil
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(o.SaltFile); err == nil {
				t.Error("a salt was made for nothing")
			}
		})
	}
}

// TestPrepareKeepsTexts: Pulumi would read these as numbers or dates, and give
// programs another text than the user wrote.
func TestPrepareKeepsTexts(t *testing.T) {
	t.Parallel()
	o := places(t)
	o.Stack.Content = []byte(`encryptionsalt: ` + rightKey(t).Salt() + `
config:
  a:version: 1.30
  a:quoted: "1.30"
  a:int: 0007
  a:hex: 0x10
  a:exponent: 1e3
  a:date: 2026-11-20
  a:time: 2026-11-20T10:00:00Z
  a:big: 123456789012345678901234567890
  a:bool: true
  a:null: ~
  a:text: plain text
  a:list: [1.30, 2, x]
  a:map:
    version: 1.30
    deep: {n: 7}
  kubernetes:infra_type: kind
`)
	got := read(t, prepare(t, o).Stack).Config
	want := map[string]any{
		"a:version": "1.30", "a:quoted": "1.30", "a:int": "0007", "a:hex": "0x10", "a:exponent": "1e3",
		"a:date": "2026-11-20", "a:time": "2026-11-20T10:00:00Z", "a:big": "123456789012345678901234567890",
		"a:bool": true, "a:null": nil, "a:text": "plain text",
		"a:list": []any{1.30, 2, "x"}, "a:map": map[string]any{"version": 1.30, "deep": map[string]any{"n": 7}},
		"kubernetes:infra_type": "kind",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPrepareSetsTheProvider in both copies, also where files are empty.
func TestPrepareSetsTheProvider(t *testing.T) {
	t.Parallel()
	salt := "encryptionsalt: " + rightKey(t).Salt() + "\n"
	for _, content := range []string{"", "# only a comment\n", "---\n", "config:\n", "config: {}\n",
		"config:\n  # nothing yet\n"} {
		for _, simulated := range []bool{false, true} {
			o := places(t)
			write(t, o.SaltFile, []byte(salt))
			o.Stack.Content, o.Secrets.Content = []byte(content), []byte(content)
			want := map[string]any{"kubernetes:infra_type": "kind"}
			if simulated {
				o.Simulate = &encryption.ThrowAway{}
				want["mara:simulated"] = "true"
			}
			copies := prepare(t, o)
			for name, file := range map[string][]byte{"stack": copies.Stack, "secrets": copies.Secrets} {
				if diff := cmp.Diff(want, read(t, file).Config); diff != "" {
					t.Errorf("%s file of %q: %s", name, content, diff)
				}
			}
			if len(copies.Generated) > 0 {
				t.Errorf("%q: generated %v", content, copies.Generated)
			}
		}
	}
}

// TestPrepareKeepsTheUsersFiles: whatever is prepared, only the salt file and
// the throw-away secrets are ever written.
func TestPrepareKeepsTheUsersFiles(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	stack, secrets := filepath.Join(directory, "Pulumi.dev.yaml"), filepath.Join(directory, "secrets", "Pulumi.dev.yaml")
	content := []byte("# mine\nconfig: {a:b: 1.30}\n")
	write(t, stack, content)
	write(t, secrets, content)
	given := slices.Clone(content)
	o := places(t)
	o.Stack, o.Secrets = config.StackFile{File: stack, Content: given}, config.StackFile{File: secrets, Content: given}
	env := maps.Clone(o.Env)
	o.Simulate = &encryption.ThrowAway{Secrets: someSecrets(), File: filepath.Join(t.TempDir(), "made", "up.yaml")}
	prepare(t, o)
	for _, path := range []string{stack, secrets} {
		if now, err := os.ReadFile(path); err != nil || string(now) != string(content) {
			t.Errorf("%s is now %q, %v", path, now, err)
		}
	}
	entries, err := os.ReadDir(directory)
	if err != nil || len(entries) != 2 {
		t.Errorf("beside the stack file: %v, %v", entries, err)
	}
	if string(given) != string(content) || !maps.Equal(env, o.Env) {
		t.Error("the options were changed")
	}
}

// TestPrepareNamesThePassphraseFileInFull: Pulumi runs in other directories.
func TestPrepareNamesThePassphraseFileInFull(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "secret/passphrase", []byte(right+"\n"))
	path, err := filepath.Abs("secret/passphrase")
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]map[string]string{
		"secret/passphrase": {"PULUMI_CONFIG_PASSPHRASE_FILE": path},
		path:                nil,
	} {
		o := places(t)
		o.Env = map[string]string{"PULUMI_CONFIG_PASSPHRASE_FILE": given}
		o.Stack.Content = []byte("encryptionsalt: " + rightKey(t).Salt() + "\n")
		if diff := cmp.Diff(want, prepare(t, o).Env); diff != "" {
			t.Errorf("%s: %s", given, diff)
		}
	}
}

// FuzzPrepare: whatever Pulumi can read it can still read afterwards.
func FuzzPrepare(f *testing.F) {
	for _, seed := range []string{"", "config:\n  a:b: 1.30\n", "config: {a: [1, {secure: x}]}", "config: text",
		"encryptionsalt: [x]",
		"secretsprovider: {}", "a: &x {config: *x}", "config: &c\n  a: *c\n", "? [a]\n: b\n", "config:\n  ? [x]\n  : y\n",
		"config: ~", "[]"} {
		f.Add(seed, "")
		f.Add("", seed)
	}
	f.Fuzz(func(t *testing.T, stack, secrets string) {
		copies, err := encryption.Prepare(encryption.Options{
			Stack:    config.StackFile{Content: []byte(stack)},
			Secrets:  config.StackFile{Content: []byte(secrets)},
			Provider: "kind", Managed: true,
		})
		if err != nil {
			return
		}
		for before, after := range map[string][]byte{stack: copies.Stack, secrets: copies.Secrets} {
			var file map[string]any
			if yaml.Unmarshal([]byte(before), &file) != nil {
				continue
			}
			file = nil
			if err := yaml.Unmarshal(after, &file); err != nil {
				t.Errorf("%q became %q: %v", before, after, err)
			}
			if values, ok := file["config"].(map[string]any); !ok || values["kubernetes:infra_type"] != "kind" {
				t.Errorf("%q became %q", before, after)
			}
		}
	})
}

// TestSharedDataKey: a key service that the stack file names by hand has one data
// key for all projects, the one that the secrets were encrypted with.
func TestSharedDataKey(t *testing.T) {
	t.Parallel()
	const named = "secretsprovider: awskms://alias/x\n"
	for _, test := range []struct{ name, secrets, want string }{
		{"the secrets have it", named + "encryptedkey: QUJD\n", "QUJD"},
		{"neither file has it", named, ""},
		{"of another service", "secretsprovider: awskms://alias/y\nencryptedkey: QUJD\n", ""},
	} {
		copies, err := encryption.Prepare(encryption.Options{
			Stack:   config.StackFile{File: "Pulumi.dev.yaml", Content: []byte(named)},
			Secrets: config.StackFile{File: "secrets/Pulumi.dev.yaml", Content: []byte(test.secrets)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, copies.Stack).DataKey; got != test.want {
			t.Errorf("%s: the data key is %q, want %q", test.name, got, test.want)
		}
	}
}

// TestOwnSecretsAreHandedOver: the projects of the user read their secrets from
// the shared file, and have them nevertheless kept with the others.
func TestOwnSecretsAreHandedOver(t *testing.T) {
	t.Parallel()
	key := rightKey(t)
	value, err := key.Encrypt("hunter2")
	if err != nil {
		t.Fatal(err)
	}
	salted := "encryptionsalt: " + key.Salt() + "\n"
	secret := "config: {app:token: {secure: '" + value + "'}, other:token: {secure: '" + value + "'}}\n"
	for name, test := range map[string]struct {
		stack, secrets string
		managed, seals bool
		err            string
	}{
		"sealed for each stack":                  {secrets: secret, managed: true, seals: true},
		"of a passphrase, sealed for each stack": {secrets: salted + secret, managed: true, seals: true},
		"of a passphrase, and nothing seals it":  {secrets: salted + secret, managed: true, err: "run without --pulumi"},
		"one key":                                {stack: salted, secrets: secret},
		"already there":                          {stack: salted + "config: {app:token: {secure: '" + value + "'}}\n", secrets: secret},
		"another scheme": {stack: "secretsprovider: awskms://a\nencryptedkey: x\n", secrets: salted + secret,
			err: "are encrypted with different keys"},
		"encrypted by the backend": {secrets: secret, managed: true, err: "Pulumi Cloud encrypts each stack with " +
			"its own key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := places(t)
			o.Stack.Content, o.Secrets.Content, o.Managed, o.Own = []byte(test.stack), []byte(test.secrets), test.managed,
				[]string{"app:token", "app:none"}
			o.Seals = test.seals
			copies, err := encryption.Prepare(o)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"app:token": map[string]any{"secure": value}, "kubernetes:infra_type": "kind"}
			if diff := cmp.Diff(want, read(t, copies.Stack).Config); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOver: what a project says in its own file counts, and what the others say
// is below it.
func TestOver(t *testing.T) {
	t.Parallel()
	shared := encryption.Copies{Stack: []byte("encryptionsalt: v1:shared\nconfig: {a:x: '1.30', a:y: b, a:s: {secure: " +
		"c}}\n")}
	for name, test := range map[string]struct {
		own  string
		want document
	}{
		"none": {"", document{Salt: "v1:shared", Config: map[string]any{"a:x": "1.30", "a:y": "b",
			"a:s": map[string]any{"secure": "c"}}}},
		"a value": {"config: {a:y: 1.20, b:z: t}", document{Salt: "v1:shared", Config: map[string]any{
			"a:x": "1.30", "a:y": "1.20", "b:z": "t", "a:s": map[string]any{"secure": "c"},
		}}},
		"its own imports": {"environment: [own]", document{Salt: "v1:shared", Imports: []string{"own"}, Config: map[string]any{
			"a:x": "1.30", "a:y": "b", "a:s": map[string]any{"secure": "c"}}}},
		"a salt": {"encryptionsalt: v1:own\nconfig: {b:s: {secure: d}}", document{Salt: "v1:own", Config: map[string]any{
			"a:x": "1.30", "a:y": "b", "b:s": map[string]any{"secure": "d"},
		}}},
		"a key service": {"secretsprovider: awskms://a\nencryptedkey: e",
			document{Provider: "awskms://a", DataKey: "e", Config: map[string]any{"a:x": "1.30", "a:y": "b"}}},
	} {
		got, err := shared.Over(config.StackFile{Content: []byte(test.own)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, read(t, got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestOverKeyServices: the secrets of one key service do not get into a file of
// another, which could not decrypt them.
func TestOverKeyServices(t *testing.T) {
	t.Parallel()
	const value = "config: {a:x: y, a:s: {secure: c}}\n"
	for name, test := range map[string]struct {
		shared, own string
		secret      bool
	}{
		"the same": {"secretsprovider: awskms://a\nencryptedkey: k\n",
			"secretsprovider: awskms://a\nencryptedkey: k\n", true},
		"another key": {"secretsprovider: awskms://a\nencryptedkey: k\n",
			"secretsprovider: awskms://b\nencryptedkey: l\n", false},
		"another data key": {"secretsprovider: awskms://a\nencryptedkey: k\n",
			"secretsprovider: awskms://a\nencryptedkey: l\n", false},
		"a salt, named or not": {"encryptionsalt: v1:s\n", "secretsprovider: passphrase\nencryptionsalt: v1:s\n", true},
		"Pulumi Cloud":         {"", "secretsprovider: awskms://a\nencryptedkey: k\n", false},
	} {
		got, err := encryption.Copies{Stack: []byte(test.shared + value)}.Over(config.StackFile{Content: []byte(test.own)})
		if err != nil {
			t.Fatal(err)
		}
		if _, has := read(t, got).Config["a:s"]; has != test.secret {
			t.Errorf("%s: the secret is in the file: %t, want %t", name, has, test.secret)
		}
	}
}

// TestSkippedProjectsNeedNoSecrets: what an environment skips has a namespace
// only while its secrets are there, as they are if it was deployed before.
func TestSkippedProjectsNeedNoSecrets(t *testing.T) {
	t.Parallel()
	o := places(t)
	o.Secrets.Content = []byte("config:\n  shop:password: given\n")
	o.Without = []string{"not-listed"}
	o.Skipped = []model.Project{
		{Name: "missing", Secrets: []model.Secret{{Key: "shop:password"}, {Key: "missing:password"}}},
		{Name: "given", Secrets: []model.Secret{{Key: "shop:password"}}},
		{Name: "with-default", Secrets: []model.Secret{{Key: "other:password", Default: "x"}}},
		{Name: "no-secrets"},
	}
	without := read(t, prepare(t, o).Secrets).Config[model.WithoutKey]
	if want := "not-listed,missing"; without != want {
		t.Errorf("without is %v, want %s", without, want)
	}
}

// TestOverAtPulumiCloud: a stack file with encrypted values and no scheme is encrypted with the key of its own stack.
func TestOverAtPulumiCloud(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stack, own string
		secret     bool
		scheme     string
	}{
		"both by Pulumi Cloud":               {"", "config: {b:s: {secure: d}}", true, ""},
		"the shared file has a passphrase":   {"encryptionsalt: " + rightKey(t).Salt() + "\n", "config: {b:s: {secure: d}}", false, ""},
		"nothing encrypted in its own file":  {"encryptionsalt: " + rightKey(t).Salt() + "\n", "config: {b:x: y}", true, rightKey(t).Salt()},
		"a passphrase in its own file alone": {"", "encryptionsalt: v1:own\nconfig: {b:s: {secure: d}}", false, "v1:own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := places(t)
			o.Managed, o.Stack.Content = true, []byte(test.stack+"config: {a:s: {secure: c}}\n")
			got, err := prepare(t, o).Over(config.StackFile{Content: []byte(test.own)})
			if err != nil {
				t.Fatal(err)
			}
			file := read(t, got)
			if _, has := file.Config["a:s"]; has != test.secret || file.Salt != test.scheme {
				t.Errorf("the shared secret is there: %t, want %t; salt %q", has, test.secret, file.Salt)
			}
		})
	}
}

// TestTags: the stacks of an environment get its tags, and keep their own.
func TestTags(t *testing.T) {
	t.Parallel()
	o := places(t)
	o.Managed, o.Tags = true, map[string]string{"mara:environment": "dev", "tier": "test"}
	o.Stack.Content = []byte("config: {'pulumi:tags': {tier: own}}\n")
	want := map[string]any{"mara:environment": "dev", "tier": "own"}
	if diff := cmp.Diff(want, read(t, prepare(t, o).Stack).Config["pulumi:tags"]); diff != "" {
		t.Error(diff)
	}
}
