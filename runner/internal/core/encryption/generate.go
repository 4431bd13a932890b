package encryption

import (
	"errors"

	"mara/projects/model"
	"mara/projects/model/password"
)

// ErrNoGenerator is the error of a secret that cannot be generated.
var ErrNoGenerator = errors.New("this secret cannot be generated: set its value")

// The characters of generated passwords. The special ones need no quoting in a
// shell, in YAML or in a connection string.
const (
	lower   = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
	special = "-_.+=^,"
)

const (
	passwordLength = 32   // 190 bits with letters and digits
	generatedBits  = 4096 // of an RSA key
)

// Generate generates a strong value for a secret.
func Generate(secret model.Secret) (string, error) {
	length := max(passwordLength, secret.MinLength)
	switch secret.Generate {
	case model.Password:
		return password.Draw(length, lower, upper, digits, special)
	case model.AlphanumericPassword:
		return password.Draw(length, lower, upper, digits)
	case model.RSAKey:
		return rsaKey(generatedBits)
	}
	return "", ErrNoGenerator
}
