// Package typeset fits text into the width of a terminal. It counts cells: an escape
// sequence has none, most characters of East Asia have two.
package typeset

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Cells returns the width of a text.
func Cells(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return ansi.StringWidth(text)
		}
	}
	return len(text) // fast path for ASCII
}

// Cut truncates a text to a width, and ends it with more.
func Cut(text string, width int, more string) string { return ansi.Truncate(text, width, more) }

// CutMiddle shortens a text to a width by removing its middle.
func CutMiddle(text string, width int, more string) string {
	all := Cells(text)
	if all <= width {
		return text
	}
	head := width / 2
	room := max(0, width-head-Cells(more))
	tail := ansi.TruncateLeft(text, all-room, "")
	if Cells(tail) > room { // a wide character stands across the cut
		tail = ansi.TruncateLeft(text, all-room+1, "")
	}
	return Cut(text, head, "") + more + tail
}

// Pad appends spaces to a text until it is as wide as width.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-Cells(text)))
}

// Wrap breaks a line at spaces so that it fits into width cells, and indents all lines but
// the first. It never breaks a word, which may be a command or an address to copy; the
// common libraries break at hyphens. A width of zero disables wrapping.
func Wrap(line string, width, indent int) string {
	if width <= 0 || Cells(line) <= width {
		return line
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(line, " ") {
		n := Cells(word)
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

// Counted returns a number with its noun: "1 project", "2 projects".
func Counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Few joins the first names of a list with commas, and counts the others: "a, b and 3 more".
func Few(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// CountedOf returns a share with its noun: "1 of 3 projects".
func CountedOf(n, all int, word string) string { return fmt.Sprintf("%d of %s", n, Counted(all, word)) }

// Are returns the verb after a number: "1 of 3 projects is", "2 of 3 projects are".
func Are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Dash formats a number, with a dash for 0.
func Dash(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// Value formats a string as it is and anything else as JSON.
func Value(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// Visible shows characters that nobody sees, or that change the order of others, as their escapes in JSON, such as \u001b:
// names, logs and values come from elsewhere, and must not look like something else. It keeps newlines and tabs, and
// what joins letters of Persian or the parts of an emoji, where it stands between such.
func Visible(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.ContainsFunc(text, isHidden) {
		return text
	}
	const notJoiner, joiner = '\u200c', '\u200d'
	var b strings.Builder
	before := rune(0)
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[min(i+utf8.RuneLen(r), len(text)):])
		joins := (r == joiner || r == notJoiner) && isJoined(before) && isJoined(next)
		if isHidden(r) && !joins {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// isHidden reports whether nobody sees a character as such.
func isHidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError)
}

// isJoined reports whether joiners may stand next to a character: there are none among Latin letters.
func isJoined(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk, unicode.Mn) || unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

// Ago formats an age the way kubectl does.
func Ago(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds ago", int(max(d, 0).Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}
