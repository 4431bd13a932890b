package ui

import (
	"fmt"
	"slices"
	"strings"

	"mara/runner/internal/machine/typeset"
)

// The control sequences that the live view needs. No mode of the terminal stays
// changed after a frame and nothing is hidden, so that there is nothing to
// restore, however the runner ends.
const (
	eraseLine  = "\x1b[2K"
	eraseBelow = "\x1b[J"
	// Erasing from the first cell of the screen on would make tmux keep what
	// was there as history.
	eraseFrame = eraseLine + " " + eraseBelow + "\r"
	beginFrame = "\x1b[?2026h" // terminals that know it show a frame at once
	endFrame   = "\x1b[?2026l"
	// Lines of a frame are never wrapped: for a moment after its width has
	// changed a terminal may still report the old one.
	cutLines  = "\x1b[?7l"
	wrapLines = "\x1b[?7h"
)

// screen keeps a frame at the end of what a terminal shows. The cursor rests
// behind the last character of the frame, so that the terminal's own ^C appears
// there and is painted over.
type screen struct {
	out   printer
	frame []string // what is on the screen
	width int      // of the terminal when it was painted
}

// paint puts text above the frame, where it stays, and replaces the frame. It
// writes once, and nothing if nothing is new. Text ends with a line end.
func (s *screen) paint(text string, frame []string, width int) {
	resized := s.width != 0 && s.width != width
	if text == "" && !resized && slices.Equal(frame, s.frame) {
		return
	}
	var b strings.Builder
	b.WriteString(beginFrame + s.home(width))
	if text != "" || resized || len(s.frame) == 0 || len(frame) == 0 {
		b.WriteString(eraseFrame + text + cutLines + strings.Join(frame, "\n"))
	} else {
		b.WriteString(cutLines)
		s.writeChanges(&b, frame)
	}
	b.WriteString(wrapLines + endFrame)
	s.out.write([]byte(b.String()))
	s.frame, s.width = frame, width
}

// home moves the cursor to the first line of the frame. A terminal that has
// become narrower has wrapped the lines that no longer fit.
func (s *screen) home(width int) string {
	rows := 0
	for _, line := range s.frame {
		rows += max(1, (typeset.Cells(line)+width-1)/max(1, width))
	}
	if rows <= 1 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", rows-1)
}

// writeChanges writes the lines that differ from those on the screen.
func (s *screen) writeChanges(b *strings.Builder, frame []string) {
	for i, text := range frame {
		if i > 0 {
			b.WriteByte('\n')
		}
		last := i == len(frame)-1 // there the cursor rests, or a ^C may stand
		if last || i >= len(s.frame) || text != s.frame[i] {
			b.WriteString(eraseLine + text)
		}
	}
	if len(s.frame) > len(frame) {
		b.WriteString(eraseBelow)
	}
}

// leave ends the frame where it stands.
func (s *screen) leave() {
	if len(s.frame) > 0 {
		s.out.write([]byte("\n"))
	}
	s.frame = nil
}
