// Command pictures turns what a terminal was sent into a picture, for the
// documentation: it reads a recording of `runner up` from stdin, as script(1) makes
// it, and writes the moment at which most projects are worked on as SVG.
package main

import (
	"fmt"
	"html"
	"io"
	"os"
	"strings"
)

// prompt stands above the picture, before the command that was typed.
const prompt = "$ "

func main() {
	if err := draw(os.Stdin, os.Stdout, strings.Join(os.Args[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// draw writes the busiest moment of a recording as SVG, below the command that it
// is of.
func draw(recording io.Reader, picture io.Writer, command string) error {
	sent, err := io.ReadAll(recording)
	if err != nil {
		return err
	}
	best, most := screen{}, 0
	s := screen{}
	err = s.play(string(sent), func() {
		if busy := s.busy(); busy >= most && busy > 0 { // the last such moment: most bars are longer than at the first
			best, most = s.clone(), busy
		}
	})
	if err != nil {
		return err
	}
	if most == 0 {
		return fmt.Errorf("the recording shows no project at work")
	}
	lines := append([][]cell{row(prompt+command, style{bold: true}), nil}, best.trimmed()...)
	_, err = io.WriteString(picture, svg(lines, command))
	return err
}

// What the picture measures, in pixels.
const (
	cellWidth  = 8.4
	lineHeight = 19
	margin     = 18
)

// colors are those of the terminal, by number; 0 is the usual one.
var colors = [8]string{"#d7dce2", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#d7dce2"}

// svg draws lines as a terminal shows them. Each text is as wide as its cells,
// whichever font there is.
func svg(lines [][]cell, title string) string {
	width := 0
	for _, line := range lines {
		width = max(width, len(line))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" role="img" aria-label="%s">`+"\n",
		float64(width)*cellWidth+2*margin, len(lines)*lineHeight+2*margin, html.EscapeString(title))
	b.WriteString("<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;" +
		"white-space:pre}.b{font-weight:bold}.f{opacity:.6}</style>\n")
	b.WriteString(`<rect width="100%" height="100%" rx="10" fill="#161b22"/>` + "\n")
	for number, line := range lines {
		y := margin + number*lineHeight + 14
		for at := 0; at < len(line); {
			end := at + 1
			for end < len(line) && line[end].style == line[at].style {
				end++
			}
			text(&b, line[at:end], at, y)
			at = end
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// text writes cells of one style that begin in a column.
func text(b *strings.Builder, cells []cell, column, y int) {
	if blank(cells) {
		return
	}
	var content strings.Builder
	for _, c := range cells {
		content.WriteRune(c.char)
	}
	trimmed := strings.TrimRight(content.String(), " ")
	led := strings.TrimLeft(trimmed, " ")
	column += len(trimmed) - len(led) // spaces are one byte each
	class := ""
	if cells[0].bold {
		class += "b"
	}
	if cells[0].faint {
		class += " f"
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" class="%s" fill="%s" textLength="%.1f">%s</text>`+"\n",
		margin+float64(column)*cellWidth, y,
		strings.TrimSpace(class), colors[cells[0].color], float64(len([]rune(led)))*cellWidth, html.EscapeString(led))
}
