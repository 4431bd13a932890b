package upgrade

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what upgrade gives the program.
func Feature() extend.Feature {
	return extend.Feature{
		Name:  "upgrade",
		Looks: []string{"upgrade plan"},
		Commands: func(d cmd.Deps) []cmd.Placed {
			return []cmd.Placed{
				{Command: Upgrade(d), Group: cmd.OneEnvironment, Rank: 130},
			}
		},
	}
}
