package cmd

import (
	"context"

	"mara/runner/internal/failure"
	"mara/runner/internal/prompt"
)

// Confirm asks whether to go on with a command, unless --yes has said so.
func Confirm(ctx context.Context, d Deps, o Common, command, question string) error {
	if o.Yes {
		return nil
	}
	terminal, ok := prompt.NewTerminal(d.Stdin, d.Stderr)
	if !o.Interactive || !ok {
		return &failure.Usage{Text: command + " needs a confirmation, and there is nobody to ask", Next: "add --yes to do it without asking"}
	}
	return Agreed(terminal.Confirm(ctx, question))
}

// Agreed is the error of a question to which the answer was not yes.
func Agreed(yes bool, err error) error {
	if err == nil && !yes {
		err = &Declined{Text: "not confirmed; nothing was changed"}
	}
	return err
}

// Declined is the error of an operation that was not confirmed.
type Declined struct{ Text string }

// Error says that nothing has happened.
func (e *Declined) Error() string { return e.Text }
