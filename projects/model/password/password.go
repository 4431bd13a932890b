// Package password draws random passwords.
package password

import (
	"crypto/rand"
	"errors"
	"math/big"
	"slices"
	"strings"
	"unicode"
)

// least is how long a password is at the least.
const least = 8

// Draw draws until the text has a character of every class, as programs that check
// passwords demand, begins with a letter and ends with a letter or a digit, so that
// no tool takes it for an option or a file name. All such passwords are equally likely.
func Draw(length int, classes ...string) (string, error) {
	if length < least {
		return "", errors.New("a password has at least 8 characters")
	}
	alphabet := strings.Join(classes, "")
	drawn := make([]byte, length)
	for {
		for i := range drawn {
			at, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
			if err != nil {
				return "", err
			}
			drawn[i] = alphabet[at.Int64()]
		}
		first, last := rune(drawn[0]), rune(drawn[length-1])
		lacks := func(class string) bool { return !strings.ContainsAny(string(drawn), class) }
		if unicode.IsLetter(first) && (unicode.IsLetter(last) || unicode.IsDigit(last)) &&
			!slices.ContainsFunc(classes, lacks) {
			return string(drawn), nil
		}
	}
}
