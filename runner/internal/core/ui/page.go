package ui

import (
	"fmt"
	"io"
	"strings"

	"mara/runner/internal/machine/typeset"
)

// Page shows a text on a terminal, again and again in the same place. It may be
// as high and as wide as the terminal: what is more is cut.
type Page struct {
	screen screen
	size   func() (width, height int)
}

// NewPage returns a page on the terminal w. Size is asked before every showing.
func NewPage(w io.Writer, size func() (width, height int)) *Page {
	return &Page{screen: screen{out: printer{w: w}}, size: size}
}

// Show replaces the text.
func (p *Page) Show(text string) error {
	width, height := p.size()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if room := max(1, height-1); len(lines) > room {
		more := fmt.Sprintf("… %d more lines", len(lines)-room+1)
		lines = append(lines[:room-1:room-1], more)
	}
	for i, line := range lines {
		lines[i] = typeset.Cut(line, max(1, width-1), "…")
	}
	p.screen.paint("", lines, width)
	return p.screen.out.err
}

// Close leaves the text where it stands, without the terminal's own ^C behind it.
func (p *Page) Close() error {
	if n := len(p.screen.frame); n > 0 {
		p.screen.out.write([]byte("\r" + eraseLine + p.screen.frame[n-1]))
	}
	p.screen.leave()
	return p.screen.out.err
}
