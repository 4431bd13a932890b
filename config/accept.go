package config

import (
	"errors"
	"fmt"
	"slices"
)

// AcceptKey lists keys whose values count as right although a check refuses or doubts them: what is known to whoever
// writes a stack file is more than the lists and forms of the runner.
const AcceptKey = "runner:accept"

// Refusal is an error about a value of the right type: whoever knows better can accept it.
type Refusal struct{ text string }

// Error returns what is wrong.
func (r *Refusal) Error() string { return r.text }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// isRefusal reports whether an error can be accepted.
func isRefusal(err error) bool {
	_, ok := errors.AsType[*Refusal](err)
	return ok
}

// Accepts reports whether the values of a key are right whatever a check says.
func (f StackFile) Accepts(key string) bool {
	entry, _ := f.Lookup(AcceptKey)
	return InAccepted(entry.Value, key)
}

// InAccepted reports whether a value of AcceptKey names a key.
func InAccepted(value any, key string) bool {
	switch accepted := value.(type) {
	case string:
		return accepted == key
	case []any:
		return slices.Contains(accepted, any(key))
	}
	return false
}

// AcceptDeclaration declares the list.
func AcceptDeclaration() Key {
	return Key{Name: AcceptKey, Kind: List, Example: `["eks:instance_type"]`,
		Doc: "keys whose values are right although a check refuses or doubts them"}
}
