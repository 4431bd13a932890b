package backup

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what backup gives the program.
func Feature() extend.Feature {
	return extend.Feature{
		Name:  "backup",
		Looks: []string{"backup list"},
		Commands: func(d cmd.Deps) []cmd.Placed {
			return []cmd.Placed{
				{Command: Command(d), Group: cmd.OneEnvironment, Rank: 140},
			}
		},
	}
}
