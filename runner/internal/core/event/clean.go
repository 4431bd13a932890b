package event

import (
	"regexp"
	"strings"
	"unicode"
)

// clean removes escape sequences and control characters from a text that comes
// from elsewhere: it must not be able to move the cursor or change colours, nor
// to hide a secret from the masker by an escape sequence in its middle. It also
// removes empty lines at both ends and space at the end.
func clean(text string) string {
	if strings.ContainsFunc(text, isUnwanted) {
		text = strings.Map(func(r rune) rune {
			if isUnwanted(r) {
				return -1
			}
			return r
		}, sequence.ReplaceAllString(text, ""))
	}
	return strings.TrimRight(strings.TrimLeft(text, "\n"), " \t\n")
}

// isUnwanted reports whether a character is neither text nor layout, such as one that changes the direction of others.
func isUnwanted(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// sequence matches a control sequence (CSI) or a string command (OSC), also one that is cut off.
var sequence = regexp.MustCompile(`\x1b\[[^@-~]*[@-~]?|(?s:\x1b\][^\x07\x1b]*(?:\x07|\x1b.?)?)`)
