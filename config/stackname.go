package config

import (
	"errors"
	"fmt"
	"strings"
)

// Pulumi's own limits for the name of a stack.
const (
	maxStackName        = 100
	stackNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
)

// CheckStackName applies Pulumi's rules for stack names. Capitals are allowed and kept.
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
		if !strings.ContainsRune(stackNameCharacters, r) {
			return fmt.Errorf("the stack name %q contains %q; allowed are letters, digits, hyphen, underscore and period",
				name, r)
		}
	}
	return nil
}
