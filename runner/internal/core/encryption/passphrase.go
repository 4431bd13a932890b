// Package encryption prepares the working copies of an environment's stack files, so that
// one passphrase key serves all its projects. The copies have the environment's salt and,
// in a simulation, generated values for missing secrets.
package encryption

import (
	"context"
	"crypto/pbkdf2"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"

	"mara/config/files"
)

// ErrPassphrase is the error of a passphrase that does not match a salt.
var ErrPassphrase = errors.New("the passphrase is wrong")

// ErrNoPassphrase is the error of a missing passphrase.
var ErrNoPassphrase = errors.New(
	"no passphrase is set; it encrypts this environment's secrets: set PULUMI_CONFIG_PASSPHRASE " +
		"or PULUMI_CONFIG_PASSPHRASE_FILE, in config/pulumi/environment or in the process environment")

// probe is the text that Pulumi encrypts into a salt to verify the passphrase.
const probe = "pulumi"

// saltBytes is the length of the random part of Pulumi's salts.
const saltBytes = 8

// rounds is the number of PBKDF2 iterations, the same as Pulumi's.
const rounds = 1_000_000

// Key encrypts values like Pulumi's passphrase provider: AES-256-GCM with a key derived by a
// million iterations of PBKDF2. Deriving a key takes 0.2 s.
type Key struct {
	salt    string
	raw     []byte
	crypter config.Crypter
}

// NewKey makes a key with a new salt.
func NewKey(passphrase string) (*Key, error) {
	random := make([]byte, saltBytes)
	_, _ = cryptorand.Read(random) // it never fails
	if passphrase == simulatedPassphrase {
		random = []byte(simulatedSalt)
	}
	key, err := derive(passphrase, random)
	if err != nil {
		return nil, fmt.Errorf("making a salt: %w", err)
	}
	sealed, err := key.Encrypt(probe)
	if err != nil {
		return nil, fmt.Errorf("making a salt: %w", err)
	}
	key.salt = "v1:" + base64.StdEncoding.EncodeToString(random) + ":" + sealed
	return key, nil
}

// OpenKey makes the key of a salt ("v1:<salt>:<sealed probe>"), or returns
// ErrPassphrase.
func OpenKey(passphrase, salt string) (*Key, error) {
	parts := strings.SplitN(salt, ":", 3)
	if len(parts) != 3 || parts[0] != "v1" {
		return nil, errors.New("encryptionsalt is not a salt that Pulumi wrote")
	}
	random, err := base64.StdEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, errors.New("encryptionsalt is not a salt that Pulumi wrote")
	}
	key, err := derive(passphrase, random)
	if err != nil {
		return nil, err
	}
	key.salt = salt
	opened, err := key.Decrypt(parts[2])
	if err != nil || opened != probe {
		return nil, ErrPassphrase
	}
	return key, nil
}

// derived caches, by passphrase and salt, functions that derive a key when first called. A
// rollout opens an environment several times.
var derived sync.Map // from [2]string to func() ([]byte, error)

// derive derives the key, without its salt. The key of simulations is a constant.
func derive(passphrase string, salt []byte) (*Key, error) {
	once, _ := derived.LoadOrStore([2]string{passphrase, string(salt)}, sync.OnceValues(func() ([]byte, error) {
		if passphrase == simulatedPassphrase && string(salt) == simulatedSalt {
			return hex.DecodeString(simulatedKey)
		}
		return pbkdf2.Key(sha256.New, passphrase, salt, rounds, config.SymmetricCrypterKeyBytes)
	}))
	raw, err := once.(func() ([]byte, error))()
	if err != nil {
		return nil, err
	}
	return &Key{raw: raw, crypter: config.NewSymmetricCrypter(raw)}, nil
}

// reveal decrypts ciphertexts, and skips values of other keys.
func (k *Key) reveal(ciphertexts []string) []string {
	var values []string
	for _, ciphertext := range ciphertexts {
		if value, err := k.Decrypt(ciphertext); err == nil && value != "" {
			values = append(values, value)
		}
	}
	return values
}

// Raw returns the key itself, for the engine's workers.
func (k *Key) Raw() []byte { return k.raw }

// Salt returns the value of encryptionsalt in a stack file.
func (k *Key) Salt() string { return k.salt }

// Encrypt returns the ciphertext of a value, which a stack file stores as `secure`.
func (k *Key) Encrypt(value string) (string, error) {
	return k.crypter.EncryptValue(context.Background(), value)
}

// The variables with Pulumi's passphrase.
const (
	PassphraseVariable     = "PULUMI_CONFIG_PASSPHRASE"
	PassphraseFileVariable = "PULUMI_CONFIG_PASSPHRASE_FILE"
)

// PassphraseVariableOf returns the variable with the passphrase of a project's own stack file, if
// it differs from the environment's: PULUMI_CONFIG_PASSPHRASE_SHOP.
func PassphraseVariableOf(project string) string {
	return PassphraseVariable + "_" + strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return unicode.ToUpper(r)
		}
		return '_'
	}, project)
}

// HasPassphrase reports whether the variable with a project's own passphrase is set. A project
// called file has none, because its variable is Pulumi's.
func HasPassphrase(env map[string]string, project string) bool {
	variable := PassphraseVariableOf(project)
	_, set := env[variable]
	return set && project != "" && variable != PassphraseFileVariable
}

// CheckPassphrase refuses a passphrase that PULUMI_CONFIG_PASSPHRASE_FILE could not give back: Pulumi removes the space
// around what is in the file.
func CheckPassphrase(passphrase string) error {
	if strings.TrimSpace(passphrase) != passphrase {
		return errors.New("begins or ends with space, which Pulumi removes from a passphrase in a file (" +
			PassphraseFileVariable + ")")
	}
	return nil
}

// Passphrase reads the passphrase from environment variables, by Pulumi's rules; ok is false
// if none is set. A passphrase may be empty.
func Passphrase(env map[string]string) (passphrase string, ok bool, err error) {
	if passphrase, ok := env[PassphraseVariable]; ok {
		return passphrase, true, nil
	}
	file, ok := env[PassphraseFileVariable]
	if !ok || file == "" {
		return "", false, nil
	}
	content, err := files.Read(file, files.Text)
	if err != nil {
		return "", false, fmt.Errorf("reading the passphrase (%s): %w", PassphraseFileVariable, err)
	}
	return strings.TrimSpace(string(content)), true, nil
}
