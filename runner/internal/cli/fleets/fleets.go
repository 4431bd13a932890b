// Package fleets has the commands about all environments of a root at once: list,
// check, get and new. Those that work on environments are in package operations.
package fleets

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/fleet"
)

// Command is `runner fleet`, with the commands below it; operations are those
// that work on environments.
func Command(d cmd.Deps, operations ...*cli.Command) *cli.Command {
	return &cli.Command{
		Name:  "fleet",
		Usage: "work on many environments at once",
		Description: "A fleet is all environments of one root: those that config/environments describes in layers, and those that\n" +
			"have only a stack file. Labels choose among them, and config/rollout.yaml says in which waves a change reaches\n" +
			"them: see docs/fleets.md.\n\n" + cmd.ExitText(cmd.AllExitCodes()...),
		Subcommands: append([]*cli.Command{listCommand(d), checkCommand(d), newCommand(d), getCommand(d)}, operations...),
	}
}

// options are those of the commands that only read the configuration.
type options struct {
	cmd.Common
	Selection fleet.Selection
	Secrets   bool // of check: have to be set
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	chosen, err := cmd.ParseFleet(c, c.Args().Slice())
	return options{Common: common, Selection: chosen, Secrets: c.Bool("secrets")}, err
}

func flags(own ...[]cli.Flag) []cli.Flag {
	return cmd.JoinFlags(cmd.FleetFlags(), cmd.JoinFlags(own...), cmd.OutputFlag("table", "json"), cmd.RootFlags(), cmd.BaseFlags())
}
