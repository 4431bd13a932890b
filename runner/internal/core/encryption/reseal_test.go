package encryption_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/runner/internal/core/encryption"
)

func keySealer(t *testing.T, passphrase string, scheme encryption.Scheme) encryption.Sealer {
	t.Helper()
	sealer, err := encryption.NewKeySealer(passphrase, scheme)
	if err != nil {
		t.Fatal(err)
	}
	return sealer
}

// TestReseal encrypts every value of a file anew, and changes nothing else.
func TestReseal(t *testing.T) {
	t.Parallel()
	from, to := keySealer(t, "old", encryption.Scheme{}), keySealer(t, "new", encryption.Scheme{})
	sealed, err := from.Seal(t.Context(), map[string]string{"a": "one", "b": "two\nlines\n"})
	if err != nil {
		t.Fatal(err)
	}
	content := "# mine\nencryptionsalt: " + from.Scheme().Salt + " # salt\nconfig:\n  x:one:\n    secure: " + sealed["a"] +
		" # why\n  x:deep: [{secure: \"" + sealed["b"] + "\"}, plain]\n"
	file, err := config.ParseStack("f.yaml", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	resealed, err := encryption.Reseal(t.Context(), file, from, to)
	if err != nil {
		t.Fatal(err)
	}
	after, err := config.ParseStack("f.yaml", resealed)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	shape := strings.Replace(string(resealed), to.Scheme().Salt, from.Scheme().Salt, 1)
	for i, ciphertext := range after.Ciphertexts() {
		values, err := to.Unseal(context.Background(), map[string]string{"x": ciphertext})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, values["x"])
		shape = strings.Replace(shape, ciphertext, file.Ciphertexts()[i], 1)
	}
	if diff := cmp.Diff([]string{"one", "two\nlines\n"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(content, shape); diff != "" {
		t.Error(diff)
	}
	if _, err := encryption.Reseal(t.Context(), file, to, from); err == nil || !strings.Contains(err.Error(), "f.yaml") {
		t.Errorf("values were read with the wrong key: %v", err)
	}
}
