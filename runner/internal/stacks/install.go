package stacks

import (
	"context"
	"fmt"

	"mara/runner/internal/process"
)

// Installation says what to install for a project.
type Installation struct {
	Folder  string
	Env     map[string]string
	Plugins bool // those of resource providers, too, which simulations do without
}

// Install installs what a project's program depends on, in its folder.
func Install(ctx context.Context, command Command, o Installation) error {
	args := []string{"install", "--non-interactive"}
	if !o.Plugins {
		args = append(args, "--no-plugins")
	}
	_, stderr, _, err := command.Run(ctx, o.Folder, nil, nil, nil, process.Environ(o.Env), args...)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("`pulumi install` in %s: %w", o.Folder, copies{}.explain(err, stderr))
	}
	return nil
}
