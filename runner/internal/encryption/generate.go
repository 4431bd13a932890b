package encryption

import (
	"crypto/rand"
	"errors"
	"math/big"
	"strings"

	"mara/projects"
)

// ErrNoGenerator says that a secret has to be given.
var ErrNoGenerator = errors.New("nothing can make this secret: give it")

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

// Generate makes a strong value for a secret.
func Generate(secret projects.Secret) (string, error) {
	length := max(passwordLength, secret.MinLength)
	switch secret.Generate {
	case projects.Password:
		return password(length, lower, upper, digits, special)
	case projects.AlphanumericPassword:
		return password(length, lower, upper, digits)
	case projects.RSAKey:
		return rsaKey(generatedBits)
	}
	return "", ErrNoGenerator
}

// password draws until the text has a character of every class, as programs that
// check passwords demand, and begins with a letter, so that no program takes it
// for a flag. All such passwords are equally likely.
func password(length int, classes ...string) (string, error) {
	alphabet := strings.Join(classes, "")
	for {
		var b strings.Builder
		for range length {
			i, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
			if err != nil {
				return "", err
			}
			b.WriteByte(alphabet[i.Int64()])
		}
		if drawn := b.String(); hasAll(drawn, classes) && strings.ContainsRune(lower+upper, rune(drawn[0])) {
			return drawn, nil
		}
	}
}

func hasAll(text string, classes []string) bool {
	for _, class := range classes {
		if !strings.ContainsAny(text, class) {
			return false
		}
	}
	return true
}
