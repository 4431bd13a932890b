package config

import (
	"errors"
	"fmt"
	"strings"
)

// maxStackName is Pulumi's own limit.
const maxStackName = 100

// CheckStackName applies Pulumi's rules for stack names. Names are used as
// typed: capitals are allowed and kept.
func CheckStackName(name string) error {
	if name == "" {
		return errors.New("a stack name may not be empty")
	}
	if n := len(name); n > maxStackName {
		return fmt.Errorf("the stack name has %d characters; at most %d are allowed", n, maxStackName)
	}
	if strings.Trim(name, ".") == "" {
		return fmt.Errorf("%q is not a stack name: it needs a letter, a digit, a hyphen or an underscore", name)
	}
	for _, r := range name {
		if !isStackNameRune(r) {
			return fmt.Errorf("the stack name %q contains %q; allowed are letters, digits, hyphen, underscore and period", name, r)
		}
	}
	return nil
}

func isStackNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
}
