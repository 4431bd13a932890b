package ui_test

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// terminal understands what the live view writes, and nothing else: it panics
// at any other control sequence. Its screen is as high as what has been
// written, or as its height says: then what is above is history, which cannot be
// written to. A change of its width wraps lines anew, as most terminals do.
type terminal struct {
	height   int // 0 is that of everything
	lines    [][]rune
	soft     []bool // the line goes on in the next one
	row, col int
	width    int
	cut      bool // lines are not wrapped
}

func (t *terminal) Write(p []byte) (int, error) {
	for text := string(p); text != ""; {
		r, n := utf8.DecodeRuneInString(text)
		switch r {
		case '\x1b':
			n = t.control(text)
		case '\r':
			t.col = 0
		case '\n':
			t.down(false)
		default:
			t.put(r)
		}
		text = text[n:]
	}
	return len(p), nil
}

func (t *terminal) control(text string) int {
	end := strings.IndexAny(text, "AhlJKm") + 1
	switch sequence := text[2:end]; {
	case strings.HasSuffix(sequence, "m"), sequence == "?2026h", sequence == "?2026l":
	case sequence == "?7l", sequence == "?7h":
		t.cut = sequence == "?7l"
	case sequence == "2K":
		t.clear(t.row)
	case sequence == "J":
		t.fill()
		t.lines[t.row] = t.lines[t.row][:min(t.col, len(t.lines[t.row]))]
		t.lines, t.soft = t.lines[:t.row+1], t.soft[:t.row+1]
		t.soft[t.row] = false
	case strings.HasSuffix(sequence, "A"):
		var n int
		if _, err := fmt.Sscanf(sequence, "%dA", &n); err != nil || n > t.row && t.height == 0 {
			panic(fmt.Sprintf("%q at row %d", sequence, t.row))
		}
		t.row = max(t.row-n, t.top())
	default:
		panic(fmt.Sprintf("unexpected control sequence %q", sequence))
	}
	return end
}

// top returns the first row on the screen.
func (t *terminal) top() int {
	if t.height == 0 {
		return 0
	}
	return max(0, len(t.lines)-t.height)
}

// fill makes the current line exist.
func (t *terminal) fill() {
	for len(t.lines) <= t.row {
		t.lines, t.soft = append(t.lines, nil), append(t.soft, false)
	}
}

func (t *terminal) clear(row int) {
	t.fill()
	t.lines[row], t.soft[row] = nil, false
}

func (t *terminal) down(soft bool) {
	t.fill()
	t.soft[t.row] = soft
	t.row, t.col = t.row+1, 0
	t.fill()
}

func (t *terminal) put(r rune) {
	switch {
	case t.col == t.width && t.cut:
		t.col--
	case t.col == t.width:
		t.down(true)
	}
	t.fill()
	for len(t.lines[t.row]) <= t.col {
		t.lines[t.row] = append(t.lines[t.row], ' ')
	}
	t.lines[t.row][t.col] = r
	t.col++
}

// resize wraps all lines anew; the cursor stays behind the same character.
func (t *terminal) resize(width int) {
	if t.width == width || len(t.lines) == 0 {
		t.width = width
		return
	}
	old := *t
	*t = terminal{width: width, height: old.height}
	cursorRow, cursorCol := 0, 0
	for i, line := range old.lines {
		for j, r := range line {
			t.put(r)
			if i == old.row && j+1 == old.col {
				cursorRow, cursorCol = t.row, t.col
			}
		}
		if i == old.row && old.col == 0 {
			cursorRow, cursorCol = t.row, 0
		}
		if !old.soft[i] && i < len(old.lines)-1 {
			t.down(false)
		}
	}
	t.row, t.col = cursorRow, cursorCol
}

// String returns everything that was written, without soft wraps.
func (t *terminal) String() string {
	var b strings.Builder
	for i, line := range t.lines {
		b.WriteString(string(line))
		if !t.soft[i] && i < len(t.lines)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
