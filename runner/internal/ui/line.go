package ui

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// line is one line of the live view. It never grows beyond its width in cells
// of the terminal, whatever is added: a line that wraps would put every line
// below it in the wrong place.
type line struct {
	text strings.Builder
	left int
	more string
}

func newLine(width int, g glyphs) *line { return &line{left: width, more: g.more} }

// add appends a text, cut to what is left; paint may colour it.
func (l *line) add(text string, paint func(string) string) {
	if l.left <= 0 {
		return
	}
	n := cells(text)
	if n > l.left {
		text, n = cutCells(text, l.left, l.more), l.left // nothing comes after a cut
	}
	l.left -= n
	l.text.WriteString(paint(text))
}

// space appends spaces.
func (l *line) space(n int) { l.add(strings.Repeat(" ", max(0, n)), unpainted) }

// String is the line without trailing spaces.
func (l *line) String() string { return strings.TrimRight(l.text.String(), " ") }

func unpainted(text string) string { return text }

// cells is the width of a text on a terminal.
func cells(text string) int { return measure().StringWidth(text) }

// cutCells shortens a text to a width on a terminal.
func cutCells(text string, width int, more string) string {
	if cells(text) <= width {
		return text
	}
	return measure().Truncate(text, width, more)
}

// measure does not look at the locale: characters of ambiguous width are
// narrow wherever one would run this.
func measure() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }
