package render

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/runner/internal/kube/manifest"
)

// Sealer makes SealedSecrets, which only the controller with the private key can
// decrypt. It encrypts values as kubeseal does, for a name in a namespace.
//
// It uses the standard library alone. The module of sealed-secrets requires a newer
// version of client-go.
type Sealer struct {
	key *rsa.PublicKey
	// Names keeps the names of Secrets, which follow from their values, from telling anything about them.
	Names []byte
}

// NewSealer parses the certificate of a controller, as `kubeseal --fetch-cert` prints it.
func NewSealer(certificate []byte, now time.Time) (*Sealer, error) {
	block, _ := pem.Decode(certificate)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("contains no certificate; `kubeseal --fetch-cert` prints one")
	}
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("contains no certificate: %w", err)
	}
	key, ok := parsed.PublicKey.(*rsa.PublicKey)
	if !ok {
		return nil, errors.New("contains a certificate without an RSA key")
	}
	if now.After(parsed.NotAfter) {
		return nil, fmt.Errorf("contains a certificate that expired on %s; `kubeseal --fetch-cert` prints the current one",
			parsed.NotAfter.UTC().Format(time.DateOnly))
	}
	return &Sealer{key: key}, nil
}

// sealed returns the SealedSecret for a Secret.
func (s *Sealer) sealed(secret manifest.Object) (manifest.Object, error) {
	namespace, name := secret.Text("metadata", "namespace"), secret.Text("metadata", "name")
	values, err := secretValues(secret)
	if err != nil {
		return nil, err
	}
	encrypted := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		sealed, err := s.seal(values[key], namespace+"/"+name)
		if err != nil {
			return nil, err
		}
		encrypted[key] = base64.StdEncoding.EncodeToString(sealed)
	}
	metadata, _ := secret["metadata"].(map[string]any)
	template := map[string]any{"metadata": metadata, "type": cmp.Or(secret.Text("type"), "Opaque")}
	if immutable, ok := secret["immutable"]; ok {
		template["immutable"] = immutable
	}
	return manifest.Object{
		"apiVersion": "bitnami.com/v1alpha1", "kind": "SealedSecret",
		"metadata": map[string]any{"name": name, "namespace": namespace},
		"spec":     map[string]any{"encryptedData": encrypted, "template": template},
	}, nil
}

// secretValues returns the decoded values of a Secret. A placeholder of a simulation is an error.
func secretValues(secret manifest.Object) (map[string][]byte, error) {
	values := map[string][]byte{}
	data, _ := secret["data"].(map[string]any)
	for key, value := range data {
		decoded, err := base64.StdEncoding.DecodeString(fmt.Sprint(value))
		if err != nil {
			return nil, fmt.Errorf("the value of %s is not base64", key)
		}
		values[key] = decoded
	}
	texts, _ := secret["stringData"].(map[string]any)
	for key, value := range texts {
		values[key] = fmt.Append(nil, value)
	}
	for key, value := range values {
		if text := string(value); strings.Contains(text, "SIMULATED-") || imagined.MatchString(text) {
			return nil, fmt.Errorf("the value of %s is a placeholder of a simulated cloud", key)
		}
	}
	return values, nil
}

// seal encrypts a value with a new session key, and the session key for the controller.
func (s *Sealer) seal(value []byte, label string) ([]byte, error) {
	const keySize = 32
	session := make([]byte, keySize)
	if _, err := rand.Read(session); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(session)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	wrapped, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, s.key, session, []byte(label))
	if err != nil {
		return nil, err
	}
	sealed := binary.BigEndian.AppendUint16(nil, uint16(len(wrapped)))
	sealed = append(sealed, wrapped...)
	return gcm.Seal(sealed, make([]byte, gcm.NonceSize()), value, nil), nil // the key is used only once
}

// Store is the store from which the External Secrets Operator reads the values of Secrets.
type Store struct {
	Kind, Name string // SecretStore or ClusterSecretStore
	Prefix     string // of entry names
}

// external returns the ExternalSecret for a Secret. It reads the entry PREFIX/NAMESPACE/NAME
// of the store, which has a property for each key.
func (s Store) external(secret manifest.Object) manifest.Object {
	namespace, name := secret.Text("metadata", "namespace"), secret.Text("metadata", "name")
	entry := path.Join(s.Prefix, namespace, name)
	data := lists.Map(secretKeys(secret), func(key string) any {
		return map[string]any{"secretKey": key, "remoteRef": map[string]any{"key": entry, "property": key}}
	})
	template := map[string]any{"type": cmp.Or(secret.Text("type"), "Opaque")}
	metadata, _ := secret["metadata"].(map[string]any)
	if labels, ok := metadata["labels"]; ok {
		template["metadata"] = map[string]any{"labels": labels}
	}
	return manifest.Object{
		"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret", "metadata": metadata,
		"spec": map[string]any{
			"secretStoreRef": map[string]any{"kind": s.Kind, "name": s.Name},
			"target":         map[string]any{"name": name, "template": template},
			"data":           data,
		},
	}
}
