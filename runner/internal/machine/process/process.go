// Package process starts and ends the processes of other programs. Each leads its
// own process group: a Ctrl-C on the terminal reaches only the runner, and a
// process can be ended together with its children.
//
// The files for each operating system hold what differs between them.
package process

import (
	"maps"
	"os/exec"
	"slices"
)

// Environ returns the variables as sorted NAME=VALUE strings.
func Environ(variables map[string]string) []string {
	var environ []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		environ = append(environ, name+"="+variables[name])
	}
	return environ
}

// OwnGroup makes a command that has not started yet lead its own process group.
func OwnGroup(command *exec.Cmd) { command.SysProcAttr = ownGroup() }

// Kill kills a group leader and its children. The process may have ended already.
func Kill(pid int) { _ = killGroup(pid) }

// Terminate asks a group leader and its children to end.
func Terminate(pid int) error { return terminateGroup(pid) }

// Interrupt sends a group leader the signal of Ctrl-C. The process may have ended
// already.
func Interrupt(pid int) { _ = interrupt(pid) }
