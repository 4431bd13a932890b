package command

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what mirror gives the program.
func Feature() extend.Feature {
	return extend.Feature{Name: "mirror", Commands: func(d cmd.Deps) []cmd.Placed {
		return []cmd.Placed{
			{Command: Command(d), Group: cmd.ForOthers, Rank: 40},
		}
	}}
}
