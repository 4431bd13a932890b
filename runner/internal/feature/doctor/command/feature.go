package command

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what doctor gives the program.
func Feature() extend.Feature {
	return extend.Feature{
		Name:  "doctor",
		Looks: []string{"check", "doctor"},
		Commands: func(d cmd.Deps) []cmd.Placed {
			return []cmd.Placed{
				{Command: Check(d), Group: cmd.OneEnvironment, Rank: 60, Daily: true},
				{Command: Doctor(d), Group: cmd.OneEnvironment, Rank: 70, Daily: true},
			}
		},
	}
}
