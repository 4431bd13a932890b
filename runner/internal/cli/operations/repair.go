package operations

import (
	"context"

	"github.com/urfave/cli/v2"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/operate"
)

// Repair returns `runner repair`.
func Repair(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "repair",
		Usage: "repair a state after a run was cut off while it created something",
		Description: "A run that is killed while it creates a resource leaves a pending operation in the state: the " +
			"resource may\n" +
			"exist without Pulumi knowing it. For every project with such operations, repair\n\n" +
			"  1. exports the state to .runner/backups, where `pulumi stack import` can get it;\n" +
			"  2. asks the cloud, by the name or the tags that the\n" +
			"     resource would have; imports what exists and what\n" +
			"     --import names; forgets what does not exist;\n" +
			"  3. refreshes the state.\n\n" +
			"What a run has left in the journal of a state, which every operation takes over, is taken over first.\n\n" +
			"Where the cloud cannot be asked, or more than one resource fits, repair stops\n" +
			"until --import or --forget says what to do. Clouds are asked for clusters,\n" +
			"machines, firewalls, registries and networks of the built-in projects.\n\n" +
			"A state file that is truncated, as on a full disk, is replaced with the one before it; the\n" +
			"broken one is kept in .runner/backups as well.\n\n" +
			"Other creations are forgotten, and have to be deleted by hand if they exist: look for them first.\n\n" +
			"Examples:\n  runner repair -s dev\n  runner repair -s dev --import main=vpc-0a1b2c3d\n" +
			"  runner repair -s dev --forget main\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.StringSliceFlag{
					Name: "import", Usage: "import the existing resource with this id into the state, `NAME=ID`; may be repeated",
				},
				&cli.StringSliceFlag{
					Name: "forget", Usage: "forget the creation of the resource `NAME` without asking the cloud; may be repeated",
				},
				&cli.BoolFlag{
					Name: "forget-journal", Usage: "take a state as it is, and drop a journal that does not belong to it",
				},
			},
			cmd.SelectionFlags(), ExecutionFlags(), cmd.LockFlags(), cmd.OutputFlag("text", "json"), ShowFlags(),
			cmd.EnvironmentFlags(), cmd.ConfirmFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseRepair, runRepair),
	}
}

// repairOptions are the options of repair, which ends with a refresh.
type repairOptions struct {
	Options
	Creations operate.Creations
}

func parseRepair(c *cli.Context, d cmd.Deps, common cmd.Common) (repairOptions, error) {
	refresh, err := ParseOperate(c, d, common, operation.Refresh)
	refresh.Request.Repair = true
	creations := operate.Creations{
		Import: c.StringSlice("import"), Forget: c.StringSlice("forget"), ForgetJournal: c.Bool("forget-journal"),
	}
	return repairOptions{refresh, creations}, err
}

func runRepair(ctx context.Context, d cmd.Deps, o repairOptions) error {
	return operate.Repair(ctx, d.Deps, o.Request, o.View, o.Creations)
}
