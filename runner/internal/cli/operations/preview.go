package operations

import (
	"github.com/urfave/cli/v2"

	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
)

// Preview is `runner preview`.
func Preview(d cmd.Deps) *cli.Command {
	return operationCommand(d, operation.Preview, spec{
		use: "show what up would change",
		description: "Shows in one table what would be created, updated, replaced and deleted in each project. Stacks that do\n" +
			"not exist yet are created empty, so that references to them are unknown rather than an error; a project that\n" +
			"depends on outputs not yet known is marked partial. --diff lists the resources above the table, with the\n" +
			"names of the properties that would change, never their values. --save-plan writes every step of every\n" +
			"project to a file, with values but without secrets, for `runner up --plan` and for other programs. What the environment costs at least is told by a sheet of prices.\n\n" +
			"Examples:\n  runner preview -s dev\n  runner preview -s dev --diff\n  runner preview -s dev --exit-code",
		flags: cmd.JoinFlags(exitCodeFlags(), saveFlags(), gateFlags(), diffFlags(), secretFlags(), simulateClusterFlags()),
		codes: []int{cmd.ExitChanges},
	})
}
