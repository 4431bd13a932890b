package event

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean removes escape sequences and control characters from a text that comes
// from elsewhere: it must not be able to move the cursor or change colours, nor
// to hide a secret from the masker by an escape sequence in its middle.
func clean(text string) string {
	if !strings.ContainsFunc(text, isUnwanted) {
		return trimLines(text)
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if n := escapeLen(text[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !isUnwanted(r) {
			b.WriteRune(r)
		}
		i += n
	}
	return trimLines(b.String())
}

// isUnwanted reports whether a character is neither text nor layout.
func isUnwanted(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// trimLines removes empty lines at both ends and space at the end.
func trimLines(text string) string {
	return strings.TrimRight(strings.TrimLeft(text, "\n"), " \t\n")
}

// escapeLen returns the length of the control sequence (CSI) or string command
// (OSC) at the start of text, zero if there is none.
func escapeLen(text string) int {
	switch {
	case strings.HasPrefix(text, "\x1b["):
		for i := 2; i < len(text); i++ {
			if text[i] >= '@' && text[i] <= '~' {
				return i + 1
			}
		}
		return len(text)
	case strings.HasPrefix(text, "\x1b]"):
		for i := 2; i < len(text); i++ {
			if text[i] == '\a' {
				return i + 1
			}
			if text[i] == '\x1b' {
				return min(i+2, len(text))
			}
		}
		return len(text)
	default:
		return 0
	}
}
