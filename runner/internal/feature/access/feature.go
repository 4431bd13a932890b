package access

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what access gives the program.
func Feature() extend.Feature {
	return extend.Feature{Name: "access", Commands: func(d cmd.Deps) []cmd.Placed {
		return []cmd.Placed{
			{Command: Command(d), Group: cmd.OneEnvironment, Rank: 150},
			{Command: Kubectl(d), Group: cmd.OneEnvironment, Rank: 160},
		}
	}}
}
