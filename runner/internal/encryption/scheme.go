package encryption

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"mara/config"
)

// Scheme says how values are encrypted, as the top-level keys of a stack file
// do: a salt for a passphrase's key, or a key service with the data key that it
// keeps safe. The zero Scheme is the backend's own encryption on Pulumi Cloud,
// and elsewhere a passphrase that has not been used yet.
type Scheme struct {
	Salt     string // encryptionsalt
	Provider string // secretsprovider
	DataKey  string // encryptedkey
	File     string // that says so; "" when nothing does yet
}

// Header are the scheme's lines in a stack file; a key without a value is none
// of them.
func (s Scheme) Header() config.Header {
	return config.Header{EncryptionSalt: s.Salt, SecretsProvider: s.Provider, EncryptedKey: s.DataKey}
}

// Schemes are the schemes of an environment.
type Schemes struct {
	Stack   Scheme // of the stack file all projects share
	Secrets Scheme // of the secrets project's own; that of the other one unless it says something itself
}

// SchemesOf reads how an environment is encrypted. A salt that no stack file
// has is in the salt file, if the environment was used before.
func SchemesOf(o Options) (Schemes, error) {
	stack, err := schemeOf(o.Stack)
	if err != nil {
		return Schemes{}, err
	}
	secrets, err := schemeOf(o.Secrets)
	if err != nil {
		return Schemes{}, err
	}
	if secrets == (Scheme{}) && stack != (Scheme{}) {
		secrets = stack
	}
	if o.UsesPassphrase(stack) && stack.Salt == "" && o.UsesPassphrase(secrets) {
		stack.Salt, stack.File = secrets.Salt, secrets.File
	}
	if o.UsesPassphrase(stack) && stack.Salt == "" {
		salt, _, err := o.savedSalt()
		if err != nil {
			return Schemes{}, err
		}
		stack.Salt, stack.File = salt, o.SaltFile
	}
	if o.UsesPassphrase(secrets) && secrets.Salt == "" {
		secrets.Salt, secrets.File = stack.Salt, stack.File
	}
	return Schemes{Stack: stack, Secrets: secrets}, nil
}

// schemeOf is what a file says.
func schemeOf(file File) (Scheme, error) {
	parsed, err := file.parse()
	if err != nil {
		return Scheme{}, err
	}
	s := Scheme{Salt: parsed.text(saltKey), Provider: parsed.text(providerKey), DataKey: parsed.text(dataKey)}
	if s != (Scheme{}) {
		s.File = file.Path
	}
	return s, nil
}

// savedSalt is the salt of an environment whose stack files have none; a new
// environment has none saved.
func (o Options) savedSalt() (salt string, found bool, err error) {
	content, err := os.ReadFile(o.SaltFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("reading the environment's salt: %w", err)
	}
	file, err := File{o.SaltFile, content}.parse()
	if err != nil {
		return "", false, err
	}
	return file.text(saltKey), true, nil
}

// Passphrase is the scheme to hold a passphrase against; without a salt in it
// the environment has none yet. needed is false where no passphrase encrypts
// anything.
func (s Schemes) Passphrase(o Options) (scheme Scheme, needed bool) {
	if o.UsesPassphrase(s.Stack) {
		return s.Stack, true
	}
	return s.Secrets, o.UsesPassphrase(s.Secrets)
}

// UsesPassphrase is false for a scheme of a cloud's key service or of the Pulumi
// Cloud.
func (o Options) UsesPassphrase(s Scheme) bool { return o.usesPassphrase(s.Provider, s.Salt) }
