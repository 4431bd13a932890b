package model

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mara/config/lists"
)

// Secret describes a secret value. It lives encrypted in the stack file of the
// secrets project, and reaches its consumer through a Kubernetes Secret.
type Secret struct {
	Key       string    // "prometheus:admin_password" in config/pulumi/secrets/Pulumi.<stack>.yaml
	DataKey   string    // key of the consumer's Kubernetes Secret that holds the value; "" when it is only derived from
	Prompt    string    // the question asked when the value is missing
	Generate  Generator // how the runner makes a value when the user gives none
	MinLength int       // shortest value allowed; 0 means any that is not empty
	Default   string    // the value when nothing is given and nothing is generated
	Own       bool      // the program reads it from its configuration, as own projects do
	Optional  bool      // the program does without a value
	NeededBy  string    // the key whose values in NeededFor make an optional secret necessary
	NeededFor []string
	Doc       string // one line: what it is for
}

// SecretKeys returns the keys of secrets, in their order.
func SecretKeys(secrets []Secret) []string {
	return lists.Map(secrets, func(secret Secret) string { return secret.Key })
}

// Generator names a way to make a secret value.
type Generator string

// The generators of secret values.
const (
	None                 Generator = ""             // the user has to give it
	Password             Generator = "password"     // letters, digits and special characters
	AlphanumericPassword Generator = "alphanumeric" // letters and digits: safe inside a URL
	RSAKey               Generator = "rsa-key"      // RSA private key, PEM
)

// InCluster returns the secrets of a project that reach it through a Kubernetes Secret. It reads the others from its
// configuration.
func InCluster(p Project) []Secret {
	return slices.DeleteFunc(slices.Clone(p.Secrets), func(s Secret) bool { return s.Own })
}

// SecretsOf returns the secrets of projects, each once.
func SecretsOf(all []Project) []Secret {
	var secrets []Secret
	for _, project := range all {
		for _, secret := range project.Secrets {
			if !slices.ContainsFunc(secrets, func(s Secret) bool { return s.Key == secret.Key }) {
				secrets = append(secrets, secret)
			}
		}
	}
	return secrets
}

// minKeyBits is the size below which an RSA key is refused.
const minKeyBits = 2048

// Check applies the rules for the secret's value. The error says what is wrong
// and leaves naming the key to the caller; it never shows the value.
func (s Secret) Check(value string) error {
	switch {
	case strings.TrimSpace(value) == "":
		return errors.New("is empty")
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return errors.New("is not text")
	case utf8.RuneCountInString(value) < s.MinLength:
		return fmt.Errorf("is shorter than %d characters", s.MinLength)
	}
	if s.Generate == RSAKey {
		_, err := ParseRSAKey([]byte(value))
		return err
	}
	if s.Own { // keys and certificates have lines
		value = strings.NewReplacer("\r\n", "", "\n", "", "\t", "").Replace(value)
		if strings.ContainsFunc(value, unicode.IsControl) {
			return errors.New("contains a control character")
		}
		return nil
	}
	if strings.ContainsFunc(value, unicode.IsControl) {
		return errors.New("contains a line break or another control character")
	}
	return nil
}

// ParseRSAKey reads a private key in PEM form, PKCS #1 or PKCS #8, that is large
// enough. Errors never show the key.
func ParseRSAKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("is not in PEM form")
	}
	key, err := parseRSA(block.Bytes)
	if err != nil {
		return nil, err
	}
	if key.N.BitLen() < minKeyBits {
		return nil, fmt.Errorf("is an RSA key of %d bits; at least %d are needed", key.N.BitLen(), minKeyBits)
	}
	return key, nil
}

func parseRSA(der []byte) (*rsa.PrivateKey, error) {
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("is not an RSA private key")
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("is a %T, not an RSA private key", parsed)
	}
	return key, nil
}
