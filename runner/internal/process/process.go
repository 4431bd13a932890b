// Package process starts and ends the processes of other programs. Each leads a
// group of its own: a Ctrl-C on the terminal is the runner's to handle, and a
// process can be ended together with everything it has started.
//
// What systems do differently about that is in this package's files for them.
package process

import (
	"maps"
	"os/exec"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
)

// Environ is a map of variables as a process takes them, sorted.
func Environ(variables map[string]string) []string {
	return slice.Map(slices.Sorted(maps.Keys(variables)), func(name string) string { return name + "=" + variables[name] })
}

// OwnGroup lets a command that is not started yet lead a group of its own.
func OwnGroup(command *exec.Cmd) { command.SysProcAttr = ownGroup() }

// Kill ends a process that leads its group, and what it has started. It may be
// gone already.
func Kill(pid int) { _ = killGroup(pid) }

// Terminate asks a process that leads its group, and what it has started, to
// end.
func Terminate(pid int) error { return terminateGroup(pid) }

// Interrupt tells a process that leads its group what Ctrl-C would tell it. It
// may be gone already.
func Interrupt(pid int) { _ = interrupt(pid) }
