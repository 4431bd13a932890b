package query

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what query gives the program.
func Feature() extend.Feature {
	return extend.Feature{
		Name:  "query",
		Looks: []string{"query"},
		Commands: func(d cmd.Deps) []cmd.Placed {
			return []cmd.Placed{
				{Command: Query(d), Group: cmd.OneEnvironment, Rank: 110},
			}
		},
	}
}
