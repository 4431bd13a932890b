package operator

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what operator gives the program.
func Feature() extend.Feature {
	return extend.Feature{
		Name:  "operator",
		Looks: []string{"operator status"},
		Commands: func(d cmd.Deps) []cmd.Placed {
			return []cmd.Placed{
				{Command: Command(d), Group: cmd.ForOthers, Rank: 20},
			}
		},
	}
}
