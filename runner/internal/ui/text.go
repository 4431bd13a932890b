package ui

import (
	"strings"
	"unicode/utf8"
)

// wrap breaks a line at spaces so that it fits, and indents what follows the
// first line. A word longer than the width stays whole: it may be a command or
// an address to copy. A width of zero wraps nothing.
func wrap(line string, width, indent int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(line, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width && used > indent:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// indented puts spaces before every line of a text.
func indented(text string, indent int) string {
	pad := strings.Repeat(" ", indent)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad)
}

// names joins names as a sentence does.
func names(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
