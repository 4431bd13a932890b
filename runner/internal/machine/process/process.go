// Package process finds, starts and ends other programs. Each leads its own process
// group: a Ctrl-C on the terminal reaches only the runner, and a process can be ended
// together with its children.
//
// The files for each operating system hold what differs between them.
package process

import (
	"maps"
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
