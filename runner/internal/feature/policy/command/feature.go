package command

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what policy gives the program.
func Feature() extend.Feature {
	return extend.Feature{
		Name:  "policy",
		Looks: []string{"policy check", "policy list"},
		Commands: func(d cmd.Deps) []cmd.Placed {
			return []cmd.Placed{
				{Command: Policy(d), Group: cmd.OneEnvironment, Rank: 120},
			}
		},
	}
}
