package config

import (
	"fmt"
	"io"
)

// redacted is what every printed form of a secret shows.
const redacted = "[secret]"

// Secret is a text that must not be shown. All its printed forms are redacted;
// only Reveal gives the text away. It holds a pointer rather than the text
// because fmt prints unexported string fields of a struct without asking their
// methods, and prints a pointer there as an address.
type Secret struct{ text *string }

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal is the text itself.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Equal compares the texts.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String is redacted.
func (s Secret) String() string { return redacted }

// Format is redacted for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText is redacted; JSON, YAML and slog's text form use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
