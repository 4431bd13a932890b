package kind

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what kind gives the program.
func Feature() extend.Feature {
	return extend.Feature{Name: "kind", Commands: func(d cmd.Deps) []cmd.Placed {
		return []cmd.Placed{
			{Command: Stop(d), Group: cmd.OneEnvironment, Rank: 190},
			{Command: Start(d), Group: cmd.OneEnvironment, Rank: 200},
		}
	}}
}
