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
		description: "Runs the projects of the plan, each as soon as those it needs have succeeded. On a terminal it first asks for\n" +
			"missing configuration, in a new folder for all of it; then it shows what would change, and asks once. When a\n" +
			"project fails, running projects finish and nothing that depends on it starts; --resume carries on with what\n" +
			"is left. --plan does what a preview has saved, and refuses if anything has changed since.\n\n" +
			"A project for which nothing has changed since its last success is left out: its program, configuration, the\n" +
			"outputs that it reads, its plugins, the engine and its state; --force runs all. docs/performance.md says more.\n" +
			"In a stack with `runner:protect: true`, stateful resources are only replaced or deleted once the stack's name\n" +
			"is typed, or --allow names them.\n\n" +
			"Examples:\n  runner up -p kind -s dev --simulate\n  runner up -s dev --parallel 1\n" +
			"  runner up -s dev --only +prometheus --retry 2\n  runner up -s dev --resume",
		flags: cmd.JoinFlags(approveFlags(), forceFlags(), allowFlags(), holdFlags(), gateFlags(), diffFlags(), secretFlags(), simulateClusterFlags()),
	})
}
