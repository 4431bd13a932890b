package operations

import (
	"github.com/urfave/cli/v2"

	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
)

// Drift is `runner drift`.
func Drift(d cmd.Deps) *cli.Command {
	return operationCommand(d, operation.Drift, spec{
		use: "show where what really exists differs from the state",
		description: "Compares all deployed projects with the clouds, in parallel and without changing anything, and lists the\n" +
			"resources that others have changed or deleted, with the properties that differ. `runner refresh` takes what was\n" +
			"found into the state, and `runner up` then puts it right.\n\n" +
			"A Helm release is compared as a whole, by its chart, its values and its status. With --deep the objects in it\n" +
			"are compared, too: the cluster tells what applying the release's manifest would change, as a dry run. Objects\n" +
			"that are gone, and fields that the manifest sets and others have changed, are shown and counted, with the\n" +
			"command that puts the release right: refresh and up do not see them. A simulated cluster has none.\n\n" +
			"Examples:\n  runner drift -s dev\n  runner drift -s dev --deep --exit-code",
		flags: cmd.JoinFlags(exitCodeFlags(), []cli.Flag{&cli.BoolFlag{Name: "deep", Usage: "look inside Helm releases, too"}}),
		codes: []int{cmd.ExitChanges},
	})
}
