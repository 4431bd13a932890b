package adopt

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what adopt gives the program.
func Feature() extend.Feature {
	return extend.Feature{
		Name:  "adopt",
		Looks: []string{"adopt"},
		Commands: func(d cmd.Deps) []cmd.Placed {
			return []cmd.Placed{
				{Command: Adopt(d), Group: cmd.ToBegin, Rank: 30, Daily: true},
				{Command: Fetch(d), Group: cmd.More, Rank: 20},
				{Command: Eject(d), Group: cmd.More, Rank: 30},
			}
		},
	}
}
