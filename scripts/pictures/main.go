// Command pictures turns what a terminal was sent into a picture, for the
// documentation: it reads a recording of `runner up` from stdin, as script(1) makes
// it, and writes the moment at which most projects are worked on as SVG.
package main

import (
	"fmt"
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
