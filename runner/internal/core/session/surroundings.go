package session

import (
	"errors"
	"slices"

	"mara/config"
	"mara/runner/internal/core/leftovers"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/machine/failure"
)

// IsAboutSurroundings reports whether an error that kept an environment from being opened is about its configuration
// or its surroundings, and not about the work. A feature's own errors have the method AboutSurroundings.
func IsAboutSurroundings(err error) bool {
	types := []any{
		new(*config.Error), new(*config.NoRootError), new(*failure.Environment), new(interface{ AboutSurroundings() }),
		new(*statefiles.BrokenError), new(*leftovers.PendingError),
	}
	return slices.ContainsFunc(types, func(of any) bool { return errors.As(err, of) }) ||
		errors.Is(err, stacks.ErrPassphrase) || errors.Is(err, stacks.ErrLogin)
}
