package cmd

import (
	"context"

	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
)

// Confirm asks for confirmation of a command, unless --yes was given.
func Confirm(ctx context.Context, d Deps, o Common, command, question string) error {
	if o.Yes {
		return nil
	}
	terminal, ok := prompt.NewTerminal(d.Stdin, d.Stderr)
	if !o.Interactive || !ok {
		return &failure.Usage{
			Text: command + " needs confirmation, and this is not a terminal",
			Next: "add --yes to skip the confirmation",
		}
	}
	return Agreed(terminal.Confirm(ctx, question))
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
