// Package zxcvbn takes the place of github.com/nbutton23/zxcvbn-go in
// mara-engine, and its directory esc that of the copy which Pulumi ESC links. Each
// reads lists of names, words and passwords at the start of the process: 40 ms
// of its 130, in every worker, for one question that only `pulumi config set`
// asks when it is given neither --plaintext nor --secret: does this look like a
// secret?
//
// This package answers from the characters alone. As it knows no words it never
// finds a password weaker than the original does: what Pulumi takes for a secret
// it takes for a secret here, too. What is lost is the other way round: a long
// word under a key such as "password" needs --plaintext.
package zxcvbn

import (
	"math"
	"unicode"
)

// Strength is the part of the original's result that Pulumi reads.
type Strength struct {
	Entropy float64 // in bits
}

// PasswordStrength returns the entropy of trying all passwords of that length and those kinds
// of characters, which is where the original begins. The original also takes words, which no
// caller passes.
func PasswordStrength(password string, _ []string) Strength {
	lower, upper, digits, others := 0, 0, 0, 0
	for _, char := range password {
		switch {
		case unicode.IsLower(char):
			lower = 26
		case unicode.IsUpper(char):
			upper = 26
		case unicode.IsDigit(char):
			digits = 10
		default:
			others = 33
		}
	}
	if password == "" {
		return Strength{}
	}
	return Strength{Entropy: float64(len(password)) * math.Log2(float64(lower+upper+digits+others))}
}
