package access

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns what access gives the program.
func Feature() extend.Feature {
	return extend.Feature{
		Name:  "access",
		Looks: []string{"access list"},
		NoJSON: map[string]string{
			"kubectl": "passes on what kubectl prints; its own -o json goes there",
		},
		Commands: func(d cmd.Deps) []cmd.Placed {
			return []cmd.Placed{
				{Command: Command(d), Group: cmd.OneEnvironment, Rank: 150},
				{Command: Kubectl(d), Group: cmd.OneEnvironment, Rank: 160},
			}
		},
	}
}
