package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// style is how a cell looks; color is one of the terminal's, 1 to 7, or 0.
type style struct {
	bold, faint bool
	color       int
}

// cell is a character on the screen.
type cell struct {
	char rune
	style
}

// screen understands what the live view of the runner writes, and nothing else: any
// other control sequence is an error, so that a picture never shows something that
// a terminal would not. It is as high as what has been written.
type screen struct {
	lines    [][]cell
	row, col int
	now      style
}

// frameEnd ends what a terminal is meant to show at once.
const frameEnd = "?2026l"

// play writes a text to the screen, and calls frame at the end of each frame.
func (s *screen) play(text string, frame func()) error {
	for text != "" {
		char, n := utf8.DecodeRuneInString(text)
		switch char {
		case '\x1b':
			if after, found := cutLink(text); found {
				text = after
				continue
			}
			end := strings.IndexAny(text, "hlmAJK")
			if !strings.HasPrefix(text, "\x1b[") || end < 0 {
				return fmt.Errorf("unexpected control sequence %.10q", text)
			}
			if err := s.control(text[2 : end+1]); err != nil {
				return err
			}
			if text[2:end+1] == frameEnd {
				frame()
			}
			n = end + 1
		case '\r':
			s.col = 0
		case '\n':
			s.row++
		default:
			s.put(char)
		}
		text = text[n:]
	}
	return nil
}

// cutLink returns the text after the beginning or the end of a link, if it begins with one. The words of a link look
// like others.
func cutLink(text string) (after string, found bool) {
	const begin, end = "\x1b]8;;", "\x1b\\"
	if !strings.HasPrefix(text, begin) {
		return text, false
	}
	_, after, found = strings.Cut(text, end)
	return after, found
}

func (s *screen) control(sequence string) error {
	switch {
	case strings.HasSuffix(sequence, "m"):
		return s.restyle(strings.TrimSuffix(sequence, "m"))
	case sequence == "2K":
		s.fill()
		s.lines[s.row] = nil
	case sequence == "J":
		s.fill()
		s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
		s.lines = s.lines[:s.row+1]
	case strings.HasSuffix(sequence, "A"):
		up, err := strconv.Atoi(strings.TrimSuffix(sequence, "A"))
		if err != nil {
			return fmt.Errorf("unexpected control sequence %q", sequence)
		}
		s.row = max(0, s.row-up)
	case sequence == "?2026h", sequence == frameEnd, sequence == "?7h", sequence == "?7l": // frames; lines are not wrapped
	default:
		return fmt.Errorf("unexpected control sequence %q", sequence)
	}
	return nil
}

func (s *screen) restyle(codes string) error {
	for code := range strings.SplitSeq(codes, ";") {
		switch n, err := strconv.Atoi(code); {
		case code == "", err == nil && n == 0:
			s.now = style{}
		case err == nil && n == 1:
			s.now.bold = true
		case err == nil && n == 2:
			s.now.faint = true
		case err == nil && n > 30 && n < 38:
			s.now.color = n - 30
		default:
			return fmt.Errorf("unexpected style %q", codes)
		}
	}
	return nil
}

// fill makes lines as far down as the cursor is.
func (s *screen) fill() {
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
}

func (s *screen) put(char rune) {
	s.fill()
	for len(s.lines[s.row]) <= s.col {
		s.lines[s.row] = append(s.lines[s.row], cell{char: ' '})
	}
	s.lines[s.row][s.col] = cell{char, s.now}
	s.col++
}

// spinner has the signs before a project that is worked on.
const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

// busy counts the projects that are worked on.
func (s *screen) busy() int {
	count := 0
	for _, line := range s.lines {
		if len(line) > 0 && strings.ContainsRune(spinner, line[0].char) {
			count++
		}
	}
	return count
}

func (s *screen) clone() screen {
	c := *s
	c.lines = slices.Clone(s.lines)
	for i := range c.lines {
		c.lines[i] = slices.Clone(c.lines[i])
	}
	return c
}

// trimmed returns the lines without empty ones at the beginning and at the end.
func (s *screen) trimmed() [][]cell {
	lines := s.lines
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func blank(line []cell) bool {
	return !slices.ContainsFunc(line, func(c cell) bool { return c.char != ' ' })
}

// row returns a string in one style.
func row(text string, in style) []cell {
	var cells []cell
	for _, char := range text {
		cells = append(cells, cell{char, in})
	}
	return cells
}
