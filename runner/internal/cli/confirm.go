package cli

import (
	"fmt"

	"mara/runner/internal/event"
	"mara/runner/internal/prompt"
)

// confirm asks before an operation that changes something. Destroying takes the
// stack's name for an answer; without somebody to ask it needs --yes.
func confirm(d Deps, o operateOptions, s *session) error {
	switch {
	case o.Yes || o.Operation == event.Preview || o.Operation == event.Refresh:
		return nil
	case o.Operation == event.Up && o.Simulation.On:
		return nil
	}
	terminal, ok := prompt.NewTerminal(d.Stdin, d.Stderr)
	if !o.Interactive || !ok {
		return &usageError{
			text: fmt.Sprintf("%s needs a confirmation, and there is nobody to ask", o.Operation),
			next: "add --yes to do it without asking",
		}
	}
	if o.Operation == event.Up {
		return confirmUp(terminal, s)
	}
	return confirmDestroy(d, terminal, s)
}

func confirmUp(terminal prompt.Terminal, s *session) error {
	yes, err := terminal.Confirm(fmt.Sprintf("Deploy the %d projects of %s to the stack %s?", len(s.plan.Steps), s.provider.Name, s.settings.Stack.Text))
	if err != nil {
		return err
	}
	if !yes {
		return &declined{}
	}
	return nil
}

func confirmDestroy(d Deps, terminal prompt.Terminal, s *session) error {
	stack := s.settings.Stack.Text
	fmt.Fprintf(d.Stderr, "This destroys everything in the %d projects of %s, stack %s.\n", len(s.plan.Steps), s.provider.Name, stack)
	answer, err := terminal.Text("Type the stack's name to go on:")
	if err != nil {
		return err
	}
	if answer != stack {
		return &declined{}
	}
	return nil
}

// declined is the error of an operation that the user did not confirm.
type declined struct{}

func (*declined) Error() string { return "not confirmed; nothing was changed" }
