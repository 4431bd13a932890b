package stacks

import (
	"context"
	"fmt"
)

// Installation says what to install for a project.
type Installation struct {
	Directory string
	Env       map[string]string
	Plugins   bool // those of resource providers, too, which simulations do without
}

// Install installs what a project's program depends on, in its directory.
func Install(ctx context.Context, command Command, o Installation) error {
	args := []string{"install", "--non-interactive"}
	if !o.Plugins {
		args = append(args, "--no-plugins")
	}
	_, err := copies{Options{Command: command, Env: o.Env}}.run(ctx, o.Directory, args...)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("`pulumi install` in %s: %w", o.Directory, err)
	}
	return err
}
