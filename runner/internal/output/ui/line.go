package ui

import (
	"strings"

	"mara/runner/internal/machine/typeset"
)

// line is one line of the live view. It never grows beyond its width in cells
// of the terminal, whatever is added: a line that wraps would put every line
// below it in the wrong place.
type line struct {
	text strings.Builder
	left int
	more string
}

// add appends a text, cut to what is left; paint may colour it.
func (l *line) add(text string, paint func(string) string) {
	if l.left <= 0 {
		return
	}
	n := typeset.Cells(text)
	if n > l.left {
		text, n = typeset.Cut(text, l.left, l.more), l.left // nothing comes after a cut
	}
	l.left -= n
	l.text.WriteString(paint(text))
}

func (l *line) space(n int) { l.add(strings.Repeat(" ", max(0, n)), unpainted) }

// String returns the line without trailing spaces.
func (l *line) String() string { return strings.TrimRight(l.text.String(), " ") }

func unpainted(text string) string { return text }
