package encryption

import (
	"context"
	"fmt"

	"mara/config"
	"mara/projects/model"
)

// Reseal decrypts every value of a stack file with one sealer, including nested values,
// encrypts them with another, and returns the new content. The rest stays byte for byte.
func Reseal(ctx context.Context, file config.StackFile, from, to Sealer) ([]byte, error) {
	ciphertexts := numbered(file)
	values, err := Reveal(ctx, file, from)
	if err != nil {
		return nil, err
	}
	sealed := map[string]string{}
	if len(values) > 0 {
		if sealed, err = to.Seal(ctx, values); err != nil {
			return nil, fmt.Errorf("%s: %w", file.File, err)
		}
	}
	renewed := map[string]string{}
	for key, ciphertext := range ciphertexts {
		renewed[ciphertext] = sealed[key]
	}
	return file.Reseal(renewed, to.Scheme().Header())
}

// Reveal decrypts every value of a stack file, including nested values.
func Reveal(ctx context.Context, file config.StackFile, sealer Sealer) (map[string]string, error) {
	values, err := sealer.Unseal(ctx, numbered(file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.File, err)
	}
	return values, nil
}

// numbered returns the encrypted values of a stack file under generated keys.
func numbered(file config.StackFile) map[string]string {
	ciphertexts := map[string]string{}
	for i, ciphertext := range file.Ciphertexts() {
		ciphertexts[fmt.Sprintf("%s:value%d", model.SecretsProject, i)] = ciphertext
	}
	return ciphertexts
}
