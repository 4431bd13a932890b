package export

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what export gives the program.
func Feature() extend.Feature {
	return extend.Feature{Name: "export", Commands: func(d cmd.Deps) []cmd.Placed {
		return []cmd.Placed{
			{Command: Export(d), Group: cmd.ForOthers, Rank: 10},
			{Command: Render(d), Group: cmd.ForOthers, Rank: 30},
		}
	}}
}
