package projects_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"mara/projects/model"
)

func TestSecretRules(t *testing.T) {
	t.Parallel()
	password := model.Secret{Key: "x:password", Generate: model.Password, MinLength: 8}
	key := model.Secret{Key: "x:key", Generate: model.RSAKey}
	for _, test := range []struct {
		name, value string
		secret      model.Secret
		want        string // in the error; "" when the value is good
	}{
		{"good", "correct horse", password, ""},
		{"as short as allowed", "12345678", password, ""},
		{"eight letters of more than a byte", "äöüßäöüß", password, ""},
		{"four letters of more than a byte", "äöüß", password, "shorter than 8 characters"},
		{"empty", "", model.Secret{}, "is empty"},
		{"blank", "          ", password, "is empty"},
		{"short", "hunter2", password, "shorter than 8 characters"},
		{"two lines", "correct\nhorse", password, "line break"},
		{"lines for a program", "-----BEGIN KEY-----\r\nabc\n-----END KEY-----\n", model.Secret{Own: true}, ""},
		{"escape for a program", "a\n\x1bb", model.Secret{Own: true}, "control character"},
		{"escape", "correct\x1bhorse", password, "control character"},
		{"bytes", "correct\xffhorse", password, "is not text"},
		{"nul", "correct\x00horse", password, "is not text"},
		{"key", rsaKey(t, 2048), key, ""},
		{"weak key", rsaKey(t, 1024), key, "1024 bits"},
		{"no key", "correct horse", key, "PEM"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := test.secret.Check(test.value)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want it to say %q", err, test.want)
			case err != nil && len(strings.TrimSpace(test.value)) > 4 && strings.Contains(err.Error(), test.value):
				t.Errorf("the error shows the value: %v", err)
			}
		})
	}
}

func rsaKey(t *testing.T, bits int) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}
