package operations

import (
	"github.com/urfave/cli/v2"

	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
)

// Destroy is `runner destroy`.
func Destroy(d cmd.Deps) *cli.Command {
	return operationCommand(d, operation.Destroy, spec{
		use: "destroy everything in the environment",
		description: "Walks the plan backwards. Shows what will go and asks for the stack's name; without a terminal it needs\n" +
			"--yes. Stacks, configuration and secrets stay. Running it again carries on; destroying nothing succeeds.\n" +
			"A stack whose configuration says `runner:protect: true` is not destroyed. A cluster in a cloud goes only when\n" +
			"its load balancers and volumes have gone: those that nothing here has made are named, and stop it.\n\n" +
			"Examples:\n  runner destroy -s dev --yes\n  runner destroy -s dev --only kubeconfig+ --remove-stacks",
		aliases: []string{"down"},
		flags:   destroyFlags(),
	})
}

// destroyFlags are the flags of destroy alone.
func destroyFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "remove-stacks", Usage: "remove the stacks, too, once they are empty"},
		&cli.BoolFlag{Name: "force-forget", Usage: "if the cluster is gone or cannot be reached, drop what was in it from the state"},
	}
}
