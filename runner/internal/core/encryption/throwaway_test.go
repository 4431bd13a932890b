package encryption_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/core/encryption"
)

func someSecrets() []model.Secret {
	return []model.Secret{
		{Key: "prometheus:admin_password", Generate: model.Password, MinLength: 8},
		{Key: "bank:db_password", Generate: model.AlphanumericPassword, MinLength: 60},
		{Key: "bank:given"},
		{Key: "bank:jwt_key", Generate: model.RSAKey},
	}
}

func simulated(t *testing.T) encryption.Options {
	t.Helper()
	o := places(t)
	o.Env = nil
	o.Simulate = &encryption.ThrowAway{
		Keys: []config.Key{
			{Name: "a:needed", Simulated: "fake"},
			{Name: "a:list", Simulated: []string{"x", "y"}},
			{Name: "a:version", Simulated: "1.30"},
			{Name: "a:optional"},
		},
		Secrets: someSecrets(),
		File:    filepath.Join(t.TempDir(), "secrets", "Pulumi.dev.yaml"),
	}
	return o
}

// opened decrypts the values of a simulation's secrets file.
func opened(t *testing.T, passphrase string, copies encryption.Copies) map[string]string {
	t.Helper()
	file := read(t, copies.Secrets)
	values := map[string]string{}
	for key, value := range file.Config {
		if node, ok := value.(map[string]any); ok {
			values[key] = decrypt(t, passphrase, file.Salt, node["secure"].(string))
		}
	}
	return values
}

func TestSimulationMakesUpWhatIsMissing(t *testing.T) {
	t.Parallel()
	o := simulated(t)
	o.Stack.Content = []byte("config:\n  a:version: 1.29\n")
	copies := prepare(t, o)
	want := map[string]any{
		"a:needed": "fake", "a:list": []any{"x", "y"}, "a:version": "1.29",
		"kubernetes:infra_type": "kind", "mara:simulated": "true",
	}
	if diff := cmp.Diff(want, read(t, copies.Stack).Config); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a:needed", "a:list", "prometheus:admin_password", "bank:db_password", "bank:given",
		"bank:jwt_key"}, copies.Generated); diff != "" {
		t.Error(diff)
	}
	passphrase := copies.Env["PULUMI_CONFIG_PASSPHRASE"]
	if !strings.Contains(passphrase, "SIMULATED") || !slices.Contains(copies.Known, passphrase) {
		t.Errorf("the passphrase is %q, known are %v", passphrase, copies.Known)
	}
	values := opened(t, passphrase, copies)
	checkInvented(t, values)
	for _, again := range []encryption.Copies{copies, prepare(t, o)} { // as they were made, and as they are read
		for key, value := range values {
			if !slices.Contains(again.Known, value) {
				t.Errorf("the value of %s is not known to the masker", key)
			}
		}
	}
	content, err := os.ReadFile(o.Simulate.File)
	if err != nil || !strings.HasPrefix(string(content), "# SIMULATED") {
		t.Errorf("generated values are stored as %q, %v", content, err)
	}
	for _, value := range values {
		if strings.Contains(string(content)+string(copies.Secrets), value) {
			t.Errorf("%q is in plain text", value)
		}
	}
	checkMode(t, o.Simulate.File)
}

func checkMode(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v; want mode 0600", path, info.Mode(), err)
	}
}

func checkInvented(t *testing.T, values map[string]string) {
	t.Helper()
	if got := values["prometheus:admin_password"]; got != "SIMULATED-0!prometheusadminpassword" {
		t.Errorf("a password is %q", got)
	}
	if got := values["bank:db_password"]; len(got) < 60 || !strings.HasPrefix(got, "SIMULATED0bankdbpassword0") ||
		strings.ContainsAny(got, "-!_:") {
		t.Errorf("an alphanumeric password is %q", got)
	}
	if got := values["bank:given"]; !strings.HasPrefix(got, "SIMULATED") {
		t.Errorf("a given value is %q", got)
	}
	block, _ := pem.Decode([]byte(values["bank:jwt_key"]))
	if block == nil {
		t.Fatal("the key is no PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if private, ok := key.(*rsa.PrivateKey); err != nil || !ok || private.Validate() != nil {
		t.Errorf("the key is %T, %v", key, err)
	}
}

// TestSimulationRepeatsItself: a second run has the same ciphertext, so that
// nothing changes; new secrets are added to the old ones.
func TestSimulationRepeatsItself(t *testing.T) {
	t.Parallel()
	for _, passphrase := range []string{"", right} {
		o := simulated(t)
		if passphrase != "" {
			o.Env = map[string]string{"PULUMI_CONFIG_PASSPHRASE": passphrase}
		}
		o.Simulate.Secrets = someSecrets()[:2]
		first := prepare(t, o)
		second := prepare(t, o)
		if diff := cmp.Diff(string(first.Secrets), string(second.Secrets)); diff != "" {
			t.Errorf("passphrase %q: the second run differs: %s", passphrase, diff)
		}
		o.Simulate.Secrets = someSecrets()
		more := read(t, prepare(t, o).Secrets).Config
		for key, value := range read(t, first.Secrets).Config {
			if diff := cmp.Diff(value, more[key]); diff != "" {
				t.Errorf("%s changed when others came: %s", key, diff)
			}
		}
		if len(more) != 6 {
			t.Errorf("now there are %d values", len(more))
		}
	}
}

// TestSimulationWithThePassphrase uses the user's own values.
func TestSimulationWithThePassphrase(t *testing.T) {
	t.Parallel()
	ciphertext, err := rightKey(t).Encrypt("the user's own")
	if err != nil {
		t.Fatal(err)
	}
	o := simulated(t)
	o.Env = map[string]string{"PULUMI_CONFIG_PASSPHRASE": right}
	o.Secrets.Content = []byte("encryptionsalt: " + rightKey(t).Salt() + "\nconfig:\n  bank:given:\n    secure: " +
		ciphertext + "\n")
	copies := prepare(t, o)
	values := opened(t, right, copies)
	if values["bank:given"] != "the user's own" || values["bank:db_password"] == "" {
		t.Errorf("got %v", values)
	}
	if slices.Contains(copies.Generated, "bank:given") || copies.Env != nil {
		t.Errorf("generated %v, environment %v", copies.Generated, copies.Env)
	}
	if got := read(t, copies.Stack).Salt; got != rightKey(t).Salt() {
		t.Errorf("the stack file has the salt %q", got)
	}
}

// TestSimulationWithoutTheKey drops values that it cannot decrypt, generates new ones, and
// keeps the rest.
func TestSimulationWithoutTheKey(t *testing.T) {
	t.Parallel()
	const values = "config:\n  bank:given:\n    secure: v1:x:y\n  a:needed:\n    deep: [{secure: v1:x:y}]\n  a:list: " +
		"[mine]\n"
	for _, test := range []struct{ name, header, passphrase string }{
		{"no passphrase", "encryptionsalt: " + rightKey(t).Salt() + "\n", ""},
		{"a key service, no passphrase", "secretsprovider: awskms://alias/x\nencryptedkey: QUJD\n", ""},
		{"a key service, and a passphrase", "secretsprovider: awskms://alias/x\nencryptedkey: QUJD\n", right},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := simulated(t)
			if test.passphrase != "" {
				o.Env = map[string]string{"PULUMI_CONFIG_PASSPHRASE": test.passphrase}
			}
			o.Stack.Content, o.Secrets.Content = []byte(test.header+values), []byte(test.header+values)
			copies := prepare(t, o)
			stack := read(t, copies.Stack)
			if stack.Provider != "" || stack.DataKey != "" || stack.Config["a:needed"] != "fake" ||
				stack.Config["bank:given"] != nil {
				t.Errorf("the stack file is\n%s", copies.Stack)
			}
			if diff := cmp.Diff([]any{"mine"}, stack.Config["a:list"]); diff != "" {
				t.Error(diff)
			}
			if got := opened(t, copies.Env["PULUMI_CONFIG_PASSPHRASE"], copies); !strings.HasPrefix(got["bank:given"],
				"SIMULATED") {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestSimulationForgetsWhatItCannotRead: generated values of another key, or in
// a broken file, are made anew.
func TestSimulationForgetsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"another key": "encryptionsalt: v1:x:y\nconfig:\n  bank:given:\n    secure: v1:x:y\n",
		"broken":      "config: [",
	} {
		o := simulated(t)
		write(t, o.Simulate.File, []byte(content))
		copies := prepare(t, o)
		if got := opened(t, copies.Env["PULUMI_CONFIG_PASSPHRASE"], copies); !strings.HasPrefix(got["bank:given"],
			"SIMULATED") {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestSimulationOfTheWholeCatalogue: every secret that a project declares can
// be generated within its own rules.
func TestSimulationOfTheWholeCatalogue(t *testing.T) {
	t.Parallel()
	o := simulated(t)
	o.Simulate.Keys, o.Simulate.Secrets = nil, nil
	for _, project := range projects.All() {
		o.Simulate.Keys = append(o.Simulate.Keys, project.Keys...)
		o.Simulate.Secrets = append(o.Simulate.Secrets, project.Secrets...)
	}
	copies := prepare(t, o)
	values := opened(t, copies.Env["PULUMI_CONFIG_PASSPHRASE"], copies)
	for _, secret := range o.Simulate.Secrets {
		value := values[secret.Key]
		if secret.Optional { // there is none unless the user has one
			continue
		}
		if value == "" || len(value) < secret.MinLength {
			t.Errorf("%s is %q, wanted are %d characters", secret.Key, value, secret.MinLength)
		}
	}
}
