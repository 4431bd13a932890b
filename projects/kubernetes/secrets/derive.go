package secrets

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"

	"mara/projects"
	"mara/projects/model"
)

// derive adds what a consumer mounts beyond the values that the user keeps.
// Values that are missing are reported elsewhere.
func derive(consumer model.Project, data map[string]string) error {
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
	key, err := model.ParseRSAKey(private)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return "", errors.New("has no usable public key")
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}
