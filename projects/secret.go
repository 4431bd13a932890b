package projects

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
