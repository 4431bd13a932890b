package rollout

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns the commands for many environments. Check is the command that checks their files.
func Feature(check func(cmd.Deps) *cli.Command) extend.Feature {
	return extend.Feature{
		Name:  "rollout",
		Looks: []string{"fleet check", "fleet costs", "fleet get", "fleet list", "fleet plan", "fleet status"},
		Commands: func(d cmd.Deps) []cmd.Placed {
			return []cmd.Placed{
				{Command: Command(d, append(Rollouts(d), check(d))...), Group: cmd.AllEnvironments, Rank: 40, Daily: true},
			}
		},
	}
}
