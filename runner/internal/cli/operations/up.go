package operations

import (
	"github.com/urfave/cli/v2"

	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
)

// Up is `runner up`.
func Up(d cmd.Deps) *cli.Command {
	return operationCommand(d, operation.Up, spec{
		use: "create or update everything in the environment",
		description: "Runs the projects of the plan, each as soon as what it needs has succeeded. On a terminal it first asks for\n" +
			"configuration that is missing, in a new folder for all of it; then it shows what would change, and asks once.\n" +
			"When a project fails, what runs is finished and nothing that depends on it starts; --resume carries on with\n" +
			"what is left.\n\n" +
			"Examples:\n  runner up -p kind -s dev --simulate\n  runner up -s dev --parallel 1\n" +
			"  runner up -s dev --only +prometheus --retry 2\n  runner up -s dev --resume",
		flags: cmd.JoinFlags(approveFlags(), diffFlags(), secretFlags()),
	})
}
