package secrets

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"

	"mara/projects"
)

// derive adds what a consumer mounts beyond the values that the user keeps.
// Values that are missing are reported elsewhere.
func derive(consumer projects.Project, data map[string]string) error {
	switch consumer.Name {
	case projects.Prometheus().Name:
		data["admin-user"] = "admin" // Grafana takes name and password from one Secret
	case projects.BankOfAnthos().Name:
		return deriveBank(data)
	}
	return nil
}

// deriveBank adds the accounts database's URI, which contains its password, and
// the public half of the key that signs login tokens.
func deriveBank(data map[string]string) error {
	uri := url.URL{
		Scheme: "postgresql",
		User:   url.UserPassword("accounts-admin", data["accounts-db-password"]),
		Host:   "accounts-db:5432",
		Path:   "accounts-db",
	}
	data["accounts-db-uri"] = uri.String()
	private := data["jwtRS256.key"]
	if private == "" {
		return nil
	}
	public, err := publicKey([]byte(private))
	if err != nil {
		return fmt.Errorf("secret %q %w: generate one with `runner secrets set %[1]s`", "bank-of-anthos:jwt_private_key", err)
	}
	data["jwtRS256.key.pub"] = public
	return nil
}

// publicKey derives the public key in PKIX form, whose PEM header is the only
// one that the Java services understand.
func publicKey(private []byte) (string, error) {
	block, _ := pem.Decode(private)
	if block == nil {
		return "", errors.New("is not in PEM form")
	}
	key, err := parseRSA(block.Bytes)
	if err != nil {
		return "", err
	}
	if key.N.BitLen() < 2048 {
		return "", fmt.Errorf("is an RSA key of %d bits; at least 2048 are needed", key.N.BitLen())
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return "", errors.New("has no usable public key")
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}

// parseRSA accepts both forms of a private key: PKCS #1 and PKCS #8.
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
