// Package prompt asks questions on a terminal. It is the only user of the
// survey library, whose interrupt becomes the runner's own.
package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/terminal"
	"golang.org/x/term"

	"mara/runner/internal/machine/interrupt"
)

// Terminal asks on a terminal.
type Terminal struct {
	in  terminal.FileReader
	out terminal.FileWriter
	err io.Writer
}

// NewTerminal returns a Terminal on two files; ok is false if they are no files.
func NewTerminal(in io.Reader, out io.Writer) (t Terminal, ok bool) {
	reader, isReader := in.(terminal.FileReader)
	writer, isWriter := out.(terminal.FileWriter)
	return Terminal{in: reader, out: writer, err: out}, isReader && isWriter
}

// Text asks for a line.
func (t Terminal) Text(ctx context.Context, question string) (string, error) {
	return ask[string](ctx, t, &survey.Input{Message: question})
}

// Password asks for a string without showing it on the screen.
func (t Terminal) Password(ctx context.Context, question string) (string, error) {
	return ask[string](ctx, t, &survey.Password{Message: question})
}

// Confirm asks a question whose default answer is no.
func (t Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	return ask[bool](ctx, t, &survey.Confirm{Message: question})
}

// ask waits for the answer or the end of ctx: a question must not keep the runner
// from ending. A read of a terminal cannot be cancelled, so at the end of ctx ask
// abandons it, and restores the state of the terminal.
//
// It sets the terminal to raw mode before the question is shown, so that an early
// Ctrl-C is an answer to the question, too.
func ask[T any](ctx context.Context, t Terminal, question survey.Prompt, options ...survey.AskOpt) (none T, err error) {
	if before, err := term.GetState(int(t.in.Fd())); err == nil {
		defer func() { _ = term.Restore(int(t.in.Fd()), before) }()
	}
	_ = terminal.NewRuneReader(terminal.Stdio{In: t.in, Out: t.out, Err: t.err}).SetTermMode()
	options = append(options, survey.WithStdio(t.in, t.out, t.err))
	answer, answered := new(T), make(chan error, 1)
	go func() { answered <- survey.AskOne(question, answer, options...) }()
	select {
	case err := <-answered:
		if errors.Is(err, terminal.InterruptErr) || errors.Is(err, io.EOF) {
			err = interrupt.ErrInterrupted
		}
		return *answer, err
	case <-ctx.Done():
		_, _ = fmt.Fprintln(t.err)
		return none, context.Cause(ctx)
	}
}
