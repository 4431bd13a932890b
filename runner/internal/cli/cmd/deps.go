// Package cmd is what the commands have in common: the outside world, flags and
// options, questions, output, errors and exit codes.
package cmd

import (
	"io"

	"mara/runner/internal/session"
)

// Program is the name of the program in texts.
const Program = "runner"

// Deps is the outside world.
type Deps struct {
	session.Deps
	Stdout           io.Writer
	StdoutIsTerminal bool
	StderrIsTerminal bool
	Environ          []string                   // NAME=value each
	Version          string                     // of the runner
	PulumiVersion    string                     // of the Pulumi inside
	Size             func() (width, height int) // of the terminal at stdout; zeros when it is none
}

// Width is the width of the terminal at stdout; 0 when it is none.
func (d Deps) Width() int {
	if d.Size == nil {
		return 0
	}
	width, _ := d.Size()
	return width
}

// Gentle announces a run that the first Ctrl-C stops without cancelling it.
func (d Deps) Gentle() (stop <-chan struct{}, release func()) {
	if d.Interrupt == nil {
		return nil, func() {}
	}
	return d.Interrupt.Gentle()
}
