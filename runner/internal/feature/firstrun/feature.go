package firstrun

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what firstrun gives the program.
func Feature() extend.Feature {
	return extend.Feature{Name: "firstrun", Commands: func(d cmd.Deps) []cmd.Placed {
		return []cmd.Placed{
			{Command: Init(d), Group: cmd.ToBegin, Rank: 20, Daily: true},
		}
	}}
}
