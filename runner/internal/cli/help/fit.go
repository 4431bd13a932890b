package help

import (
	"regexp"
	"strings"

	"mara/runner/internal/machine/typeset"
)

// Fit wraps a help text for the width of a terminal; 0 leaves it as it is.
// Examples are not wrapped: they are to be copied.
func Fit(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.HasPrefix(line, " ") {
			b.WriteString(fitRow(line, width) + "\n")
			continue
		}
		for i+1 < len(lines) && goesOn(lines[i], lines[i+1]) {
			i++
			line += " " + lines[i]
		}
		b.WriteString(typeset.Wrap(line, width, 0) + "\n")
	}
	return b.String()
}

// goesOn says whether a line of prose ends only because the next word did not fit.
func goesOn(line, next string) bool {
	const usual = 80 // at least this wide are the lines of help as it is written
	word, _, _ := strings.Cut(next, " ")
	return word != "" && typeset.Cells(line+" "+word) > usual
}

// fitRow wraps the right column of a line of a list or a table, or puts it below
// the left one if there is no room.
func fitRow(line string, width int) string {
	const (
		little = 24 // cells for the right column
		below  = 8
	)
	start := len(line) - len(strings.TrimLeft(line, " "))
	if number := regexp.MustCompile(`^[0-9]+\. `).FindString(line[start:]); number != "" {
		return typeset.Wrap(line, width, start+len(number))
	}
	gap := strings.Index(line[start:], "  ")
	if gap < 0 {
		return line
	}
	left := line[:start+gap]
	right := strings.TrimLeft(line[start+gap:], " ")
	indent := len(line) - len(right)
	if width-indent < little {
		return left + "\n" + typeset.Wrap(strings.Repeat(" ", below)+right, width, below)
	}
	return typeset.Wrap(line, width, indent)
}
