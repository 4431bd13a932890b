package command

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what web gives the program.
func Feature() extend.Feature {
	return extend.Feature{Name: "web", Commands: func(d cmd.Deps) []cmd.Placed {
		return []cmd.Placed{
			{Command: Command(d), Group: cmd.AllEnvironments, Rank: 10, Daily: true},
		}
	}}
}
