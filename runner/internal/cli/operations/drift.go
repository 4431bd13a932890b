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
			"resources that others have changed or deleted, with the properties that differ. A Helm release is compared as\n" +
			"a whole, by its chart, its values and its status: what others have changed of the objects in it is not found.\n" +
			"`runner refresh` takes what was found into the state, and `runner up` then puts it right.\n\n" +
			"Examples:\n  runner drift -s dev\n  runner drift -s dev --exit-code",
		flags: exitCodeFlags(),
		codes: []int{cmd.ExitChanges},
	})
}
