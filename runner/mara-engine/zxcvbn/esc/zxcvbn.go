// Package zxcvbn takes the place of github.com/ccojocar/zxcvbn-go, which Pulumi
// ESC asks the same question; see the directory above.
package zxcvbn

import "github.com/nbutton23/zxcvbn-go"

// PasswordStrength calls the package above.
func PasswordStrength(password string, words []string) zxcvbn.Strength {
	return zxcvbn.PasswordStrength(password, words)
}
