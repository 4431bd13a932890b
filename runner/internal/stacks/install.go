package stacks

import (
	"context"
	"fmt"
)

// Install installs what a project's program depends on, in its folder.
func Install(ctx context.Context, command Command, folder string, env map[string]string) error {
	_, stderr, _, err := command.Run(ctx, folder, nil, nil, nil, Environ(env), "install", "--non-interactive")
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("`pulumi install` in %s: %w", folder, (&Set{}).explain(err, stderr))
	}
	return nil
}
