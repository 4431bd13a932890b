package prompt

import (
	"context"
	"io"

	"mara/runner/internal/machine/failure"
)

// Confirm asks for confirmation of a command, and returns an error unless the answer is yes. Where it cannot ask, the
// error says so.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, interactive bool, command, question string) error {
	terminal, ok := NewTerminal(in, out)
	if !interactive || !ok {
		return NoTerminal(command)
	}
	return Agreed(terminal.Confirm(ctx, question))
}

// NoTerminal returns the error of a command that needs confirmation where it cannot ask.
func NoTerminal(command string) error {
	return &failure.Usage{
		Text: command + " needs confirmation, and this is not a terminal",
		Next: "add --yes to skip the confirmation",
	}
}

// Agreed turns an answer other than yes into an error.
func Agreed(yes bool, err error) error {
	if err == nil && !yes {
		err = &Declined{Text: "not confirmed; nothing was changed"}
	}
	return err
}

// Declined is the error of an operation that was not confirmed.
type Declined struct{ Text string }

// Error returns the text.
func (e *Declined) Error() string { return e.Text }
