package encryption

import (
	"context"
	"fmt"

	"mara/config"
	"mara/projects"
)

// Reseal decrypts every value of a stack file with one sealer, also those that
// are deep inside others, encrypts them with another, and returns the new
// content. Everything else stays byte for byte.
func Reseal(ctx context.Context, file config.StackFile, from, to Sealer) ([]byte, error) {
	ciphertexts := map[string]string{}
	for i, ciphertext := range file.Ciphertexts() {
		ciphertexts[fmt.Sprintf("%s:value%d", projects.SecretsProject, i)] = ciphertext
	}
	values, err := from.Unseal(ctx, ciphertexts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.File, err)
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
