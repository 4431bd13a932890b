package stacks

import (
	"context"
	"fmt"
)

// Rename makes the stack of a project that of another, which has none or an empty one.
func (e *Set) Rename(ctx context.Context, from, to string) error {
	if summary := e.Summary(to); summary.Exists {
		if summary.Resources > 0 {
			return fmt.Errorf("%s is deployed already", to)
		}
		if _, err := e.runOn(ctx, to, "stack", "rm", "--yes", "--preserve-config"); err != nil {
			return fmt.Errorf("removing the empty stack of %s: %w", to, err)
		}
	}
	if _, err := e.runOn(ctx, from, "stack", "rename", e.qualified(to)); err != nil {
		return fmt.Errorf("renaming the stack of %s: %w", from, err)
	}
	return e.List(ctx)
}
