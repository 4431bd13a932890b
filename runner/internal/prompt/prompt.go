// Package prompt asks questions on a terminal. It is the only user of the
// survey library, whose interrupt becomes the runner's own.
package prompt

import (
	"errors"
	"io"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/terminal"

	"mara/runner/internal/interrupt"
)

// Terminal asks on a terminal.
type Terminal struct {
	in  terminal.FileReader
	out terminal.FileWriter
	err io.Writer
}

// NewTerminal is a Terminal on files that are one; ok is false for others.
func NewTerminal(in io.Reader, out io.Writer) (t Terminal, ok bool) {
	reader, isReader := in.(terminal.FileReader)
	writer, isWriter := out.(terminal.FileWriter)
	return Terminal{in: reader, out: writer, err: out}, isReader && isWriter
}

// Text asks for a line of text.
func (t Terminal) Text(question string) (string, error) {
	var answer string
	err := survey.AskOne(&survey.Input{Message: question}, &answer, t.stdio())
	return answer, translate(err)
}

// Confirm asks a question whose default answer is no.
func (t Terminal) Confirm(question string) (bool, error) {
	var answer bool
	err := survey.AskOne(&survey.Confirm{Message: question}, &answer, t.stdio())
	return answer, translate(err)
}

func (t Terminal) stdio() survey.AskOpt { return survey.WithStdio(t.in, t.out, t.err) }

func translate(err error) error {
	if errors.Is(err, terminal.InterruptErr) || errors.Is(err, io.EOF) {
		return interrupt.ErrInterrupted
	}
	return err
}
