package cmd

import (
	"context"

	"mara/runner/internal/machine/prompt"
)

// Confirm asks for confirmation of a command, unless --yes was given.
func Confirm(ctx context.Context, d Deps, o Common, command, question string) error {
	if o.Yes {
		return nil
	}
	return prompt.Confirm(ctx, d.Stdin, d.Stderr, o.Interactive, command, question)
}
