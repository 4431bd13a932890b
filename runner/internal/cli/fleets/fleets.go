// Package fleets has the commands about all environments of a root at once: list,
// check, get and new. The operations on environments are in package operations.
package fleets

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/repo/fleet"
)

// Command returns `runner fleet` with its subcommands; operations are the subcommands that
// work on environments.
func Command(d cmd.Deps, operations ...*cli.Command) *cli.Command {
	return &cli.Command{
		Name:  "fleet",
		Usage: "work on many environments at once",
		Description: "A fleet is all environments of one root, described by files in config/environments or only by a " +
			"stack file.\n" +
			"Labels choose environments, and config/rollout.yaml defines waves: groups of environments that are updated at\n" +
			"the same time. See docs/fleets.md.\n\n" + cmd.ExitText(cmd.AllExitCodes()...),
		Subcommands: append([]*cli.Command{listCommand(d), checkCommand(d), newCommand(d), getCommand(d)}, operations...),
	}
}

// options are the options of the commands that only read the configuration.
type options struct {
	cmd.Common
	Selection fleet.Selection
	Secrets   bool // check requires all secrets
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	chosen, err := cmd.ParseFleet(c, c.Args().Slice())
	return options{Common: common, Selection: chosen, Secrets: c.Bool("secrets")}, err
}

func flags(own ...[]cli.Flag) []cli.Flag {
	return cmd.JoinFlags(cmd.FleetFlags(), cmd.JoinFlags(own...), cmd.OutputFlag("table", "json"), cmd.RootFlags(),
		cmd.BaseFlags())
}
