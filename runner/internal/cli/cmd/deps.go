// Package cmd has what commands share: the outside world, flags and options,
// confirmation, output, errors and exit codes.
package cmd

import (
	"context"
	"io"

	"mara/runner/internal/environment/session"
	"mara/runner/internal/output/ui"
)

// Program is the name of the program.
const Program = "runner"

// Deps is the outside world.
type Deps struct {
	session.Deps
	Stdout           io.Writer
	StdoutIsTerminal bool
	StderrIsTerminal bool
	Environ          []string                   // NAME=value each
	PulumiVersion    string                     // of the Pulumi inside
	Releases         string                     // web directory of the releases; "" for a build that knows none
	Size             func() (width, height int) // of the terminal at stdout; zeros when it is none
}

// RunFunc runs a command line of the runner, and returns its exit code.
type RunFunc func(ctx context.Context, d Deps, args []string) int

// Width returns the width of the terminal at stdout, 0 if it is none.
func (d Deps) Width() int { return ui.Width(d.Size) }
