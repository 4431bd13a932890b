package promote

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what promote gives the program.
func Feature() extend.Feature {
	return extend.Feature{Name: "promote", Commands: func(d cmd.Deps) []cmd.Placed {
		return []cmd.Placed{
			{Command: Promote(d), Group: cmd.AllEnvironments, Rank: 30},
		}
	}}
}
