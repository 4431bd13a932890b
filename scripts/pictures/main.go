// Command pictures turns what a terminal was sent into a moving picture, for the documentation: it reads a recording of
// `runner up` from stdin, as script(1) makes it, and writes an SVG that plays it. Where pictures do not move, it shows the
// moment at which most projects are worked on. With -still it draws what is on the screen at the end, without motion.
package main

import (
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"strings"
)

// prompt stands above the picture, before the command that was typed.
const prompt = "$ "

func main() {
	still := flag.Bool("still", false, "draw only the end")
	columns := flag.Int("columns", 200, "of the terminal")
	flag.Parse()
	command := strings.Join(flag.Args(), " ")
	var err error
	if *still {
		err = drawEnd(os.Stdin, os.Stdout, command)
	} else {
		err = draw(os.Stdin, os.Stdout, command, *columns)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// draw writes a recording of a terminal of so many columns as SVG, below the command that it is of.
func draw(recording io.Reader, picture io.Writer, command string, columns int) error {
	sent, err := io.ReadAll(recording)
	if err != nil {
		return err
	}
	var all film
	s, most := screen{}, 0
	err = s.play(string(sent), func() {
		if busy := s.busy(); busy >= most && busy > 0 { // the last such moment: most bars are longer than at the first
			all.still, most = len(all.frames), busy
		}
		frame := s.clone()
		all.frames = append(all.frames, frame.trimmed())
	})
	if err != nil {
		return err
	}
	if most == 0 {
		return fmt.Errorf("the recording shows no project at work")
	}
	all.thin()
	all.frames = append(all.frames, s.trimmed()) // the end
	all.wrap(columns)
	all.crop()
	_, err = io.WriteString(picture, all.svg(command))
	return err
}

// drawEnd writes the end of a recording as SVG, below the command that it is of.
func drawEnd(recording io.Reader, picture io.Writer, command string) error {
	sent, err := io.ReadAll(recording)
	if err != nil {
		return err
	}
	var s screen
	if err := s.play(string(sent), func() {}); err != nil {
		return err
	}
	lines := s.trimmed()
	if len(lines) == 0 {
		return fmt.Errorf("the recording ends with an empty screen")
	}
	_, err = io.WriteString(picture, (&film{frames: [][][]cell{lines}}).svg(command))
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
