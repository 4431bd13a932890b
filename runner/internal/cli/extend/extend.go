// Package extend says what a feature gives the program. The command line knows features only by it, so that a feature
// is taken away by deleting its directory and its line in package wire.
package extend

import "mara/runner/internal/cli/cmd"

// Feature is one directory below feature. A nil field adds nothing. Functions are called once for each command line,
// and do no work: a feature costs nothing until it is used.
type Feature struct {
	Name     string
	Commands func(d cmd.Deps) []cmd.Placed
	Looks    []string          // those of its commands that only look, by their full names
	NoJSON   map[string]string // those without -o json, each with the reason
}
