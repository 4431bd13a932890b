package encryption

import (
	"context"
	"fmt"
)

// Sealer encrypts and decrypts values under one scheme.
type Sealer interface {
	// Scheme returns the scheme for the stack file with the values.
	Scheme() Scheme
	// Seal encrypts values by configuration key.
	Seal(ctx context.Context, values map[string]string) (map[string]string, error)
	// Unseal decrypts values that Seal encrypted.
	Unseal(ctx context.Context, ciphertexts map[string]string) (map[string]string, error)
}

// Decrypt returns the value of a ciphertext.
func (k *Key) Decrypt(ciphertext string) (string, error) {
	return k.crypter.DecryptValue(context.Background(), ciphertext)
}

// keySealer is a Sealer with a passphrase's key.
type keySealer struct {
	key      *Key
	provider string // secretsprovider of the stack file: "passphrase" or ""
}

// NewKeySealer returns a Sealer with Pulumi's passphrase encryption, in this process. It
// generates a salt for a scheme without one.
func NewKeySealer(passphrase string, scheme Scheme) (Sealer, error) {
	if scheme.Salt == "" {
		key, err := NewKey(passphrase)
		return keySealer{key, scheme.Provider}, err
	}
	key, err := OpenKey(passphrase, scheme.Salt)
	if err != nil {
		return nil, wrongKey(err, scheme.File)
	}
	return keySealer{key, scheme.Provider}, nil
}

// Scheme implements Sealer.
func (s keySealer) Scheme() Scheme { return Scheme{Salt: s.key.Salt(), Provider: s.provider} }

// Seal implements Sealer.
func (s keySealer) Seal(_ context.Context, values map[string]string) (map[string]string, error) {
	return each(values, "encrypting", s.key.Encrypt)
}

// Unseal implements Sealer.
func (s keySealer) Unseal(_ context.Context, ciphertexts map[string]string) (map[string]string, error) {
	return each(ciphertexts, "decrypting", s.key.Decrypt)
}

// each applies turn to every value. Errors name the key, never the value.
func each(texts map[string]string, doing string, turn func(string) (string, error)) (map[string]string, error) {
	turned := make(map[string]string, len(texts))
	for key, text := range texts {
		var err error
		if turned[key], err = turn(text); err != nil {
			return nil, fmt.Errorf("%s %s: %w", doing, key, err)
		}
	}
	return turned, nil
}
