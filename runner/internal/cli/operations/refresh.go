package operations

import (
	"github.com/urfave/cli/v2"

	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
)

// Refresh is `runner refresh`.
func Refresh(d cmd.Deps) *cli.Command {
	return operationCommand(d, operation.Refresh, spec{
		use: "bring the state in line with what really exists",
		description: "Skips projects that were never deployed. With --preview-only the state stays as it is, as with\n" +
			"`runner drift`.\n\n" +
			"Examples:\n  runner refresh -s dev\n  runner refresh -s dev --preview-only --exit-code",
		flags: append(exitCodeFlags(), &cli.BoolFlag{Name: "preview-only", Usage: "show what differs and leave the state as it is"}),
		codes: []int{cmd.ExitChanges},
	})
}
