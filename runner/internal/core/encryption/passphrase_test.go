package encryption_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"

	"mara/runner/internal/core/encryption"
)

// right is the passphrase of the tests.
const right = "correct horse battery staple"

// rightKey returns a key of that passphrase. Deriving keys is slow, so tests share it.
func rightKey(t *testing.T) *encryption.Key {
	t.Helper()
	key, err := sharedKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

var sharedKey = sync.OnceValues(func() (*encryption.Key, error) { return encryption.NewKey(right) })

// pulumis are Pulumi's own keys, by passphrase and salt: making one is slow.
var pulumis sync.Map

// decrypt opens a ciphertext the way Pulumi does.
func decrypt(t *testing.T, passphrase, salt, ciphertext string) string {
	t.Helper()
	random, err := base64.StdEncoding.DecodeString(strings.Split(salt, ":")[1])
	if err != nil {
		t.Fatal(err)
	}
	crypter, made := pulumis.Load(passphrase + salt)
	if !made {
		crypter = config.NewSymmetricCrypterFromPassphrase(passphrase, random)
		pulumis.Store(passphrase+salt, crypter)
	}
	value, err := crypter.(config.Crypter).DecryptValue(context.Background(), ciphertext)
	if err != nil {
		t.Fatalf("a value cannot be decrypted: %v", err)
	}
	return value
}

func TestKeysAreThoseOfPulumi(t *testing.T) {
	t.Parallel()
	key := rightKey(t)
	parts := strings.SplitN(key.Salt(), ":", 3)
	if len(parts) != 3 || parts[0] != "v1" {
		t.Fatalf("salt %q", key.Salt())
	}
	if got := decrypt(t, right, key.Salt(), parts[2]); got != "pulumi" {
		t.Errorf("the salt proves the passphrase with %q", got)
	}
	for _, value := range []string{"", "a", "ünï\ncode\x00", strings.Repeat("long", 5000)} {
		ciphertext, err := key.Encrypt(value)
		if err != nil {
			t.Fatal(err)
		}
		if got := decrypt(t, right, key.Salt(), ciphertext); got != value {
			t.Errorf("%q came back as %q", value, got)
		}
	}
	one, _ := key.Encrypt("same")
	if two, _ := key.Encrypt("same"); one == two {
		t.Error("the same value gives the same ciphertext twice")
	}
}

func TestOpenKey(t *testing.T) {
	t.Parallel()
	salt := rightKey(t).Salt()
	parts := strings.SplitN(salt, ":", 3)
	const malformed = "encryptionsalt is not a salt that Pulumi wrote"
	for _, test := range []struct{ name, passphrase, salt, want string }{
		{"right", right, salt, ""},
		{"wrong", "wrong", salt, encryption.ErrPassphrase.Error()},
		{"empty passphrase", "", salt, encryption.ErrPassphrase.Error()},
		{"other random part", right, parts[0] + ":AAAAAAAAAAA=:" + parts[2], encryption.ErrPassphrase.Error()},
		{"probe cut off", right, strings.TrimSuffix(salt, salt[len(salt)-8:]), encryption.ErrPassphrase.Error()},
		{"no probe", right, parts[0] + ":" + parts[1] + ":", encryption.ErrPassphrase.Error()},
		{"empty", right, "", malformed},
		{"two parts", right, "v1:" + parts[1], malformed},
		{"other version", right, "v2" + strings.TrimPrefix(salt, "v1"), malformed},
		{"not base64", right, "v1:***:" + parts[2], malformed},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			key, err := encryption.OpenKey(test.passphrase, test.salt)
			if test.want == "" {
				if err != nil || key.Salt() != test.salt {
					t.Errorf("got %v, %v", key, err)
				}
				return
			}
			if key != nil || err == nil || err.Error() != test.want {
				t.Errorf("got %v, %v", key, err)
			}
			if errors.Is(err, encryption.ErrPassphrase) != (test.want == encryption.ErrPassphrase.Error()) {
				t.Errorf("%v: is the passphrase to blame?", err)
			}
		})
	}
}

// FuzzOpenKey: no salt, however broken, may end the runner.
func FuzzOpenKey(f *testing.F) {
	for _, seed := range []string{"", "v1", "v1::", "v1:AAAA:v1", "v1:AAAA:v1:", "v1:AAAAAAAAAAA=:v1:AAAA:BBBB",
		"v1:AAAAAAAAAAA=:v1:AAAAAAAAAAAAAAAA:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, salt string) {
		key, err := encryption.OpenKey("passphrase", salt)
		if (key == nil) == (err == nil) {
			t.Errorf("%q: got %v and %v", salt, key, err)
		}
	})
}

func TestPassphrase(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	file := filepath.Join(directory, "passphrase")
	if err := os.WriteFile(file, []byte("  from a file \n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(directory, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const text, path = "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"
	for _, test := range []struct {
		name string
		env  map[string]string
		want string
		ok   bool
		err  error
	}{
		{"none", nil, "", false, nil},
		{"text", map[string]string{text: " as it is "}, " as it is ", true, nil},
		{"empty text counts", map[string]string{text: ""}, "", true, nil},
		{"file", map[string]string{path: file}, "from a file", true, nil},
		{"empty file counts", map[string]string{path: empty}, "", true, nil},
		{"text before file", map[string]string{text: "", path: file}, "", true, nil},
		{"no file is named", map[string]string{path: ""}, "", false, nil},
		{"missing file", map[string]string{path: filepath.Join(directory, "nowhere")}, "", false, fs.ErrNotExist},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, ok, err := encryption.Passphrase(test.env)
			if got != test.want || ok != test.ok || !errors.Is(err, test.err) {
				t.Errorf("got %q, %v, %v; want %q, %v, %v", got, ok, err, test.want, test.ok, test.err)
			}
			if err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("the error does not name the variable: %v", err)
			}
		})
	}
}
