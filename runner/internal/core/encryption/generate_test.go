package encryption_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/core/encryption"
)

func TestGenerate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		secret model.Secret
		want   string // pattern
	}{
		{"password", model.Secret{Generate: model.Password, MinLength: 8}, `^[a-zA-Z][a-zA-Z0-9_.+=^,-]{31}$`},
		{"long password", model.Secret{Generate: model.Password, MinLength: 40}, `^[a-zA-Z][a-zA-Z0-9_.+=^,-]{39}$`},
		{"letters and digits", model.Secret{Generate: model.AlphanumericPassword, MinLength: 8},
			`^[a-zA-Z][a-zA-Z0-9]{31}$`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for range 500 {
				value, err := encryption.Generate(test.secret)
				if err != nil {
					t.Fatal(err)
				}
				for _, pattern := range []string{test.want, `[a-z]`, `[A-Z]`, `[0-9]`} {
					if !regexp.MustCompile(pattern).MatchString(value) {
						t.Fatalf("%q does not match %s", value, pattern)
					}
				}
				if err := test.secret.Check(value); err != nil {
					t.Fatalf("%q breaks the secret's own rules: %v", value, err)
				}
				if seen[value] {
					t.Fatalf("%q came twice", value)
				}
				seen[value] = true
			}
		})
	}
}

// TestGenerateTheCatalogue makes every secret that a project declares.
func TestGenerateTheCatalogue(t *testing.T) {
	t.Parallel()
	keys := 0
	for _, project := range projects.All() {
		for _, secret := range project.Secrets {
			if secret.Optional { // there is none unless the user has one
				continue
			}
			value, err := encryption.Generate(secret)
			if secret.Generate == "" { // it is made elsewhere, such as the key of a bucket
				if err == nil || !strings.Contains(err.Error(), "cannot be generated: set its value") {
					t.Errorf("%s: %q, %v", secret.Key, value, err)
				}
				continue
			}
			if err == nil {
				err = secret.Check(value)
			}
			if err != nil {
				t.Errorf("%s: %v", secret.Key, err)
			}
			if secret.Generate == model.RSAKey {
				keys++
				if key, err := model.ParseRSAKey([]byte(value)); err != nil || key.N.BitLen() != 4096 {
					t.Errorf("%s has %d bits, %v", secret.Key, key.N.BitLen(), err)
				}
			}
		}
	}
	if keys == 0 {
		t.Error("no project declares an RSA key any more")
	}
}

func TestGenerateNothing(t *testing.T) {
	t.Parallel()
	if value, err := encryption.Generate(model.Secret{Key: "x:y"}); !errors.Is(err, encryption.ErrNoGenerator) ||
		value != "" {
		t.Errorf("got %q, %v", value, err)
	}
}
