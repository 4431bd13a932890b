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
		description: "Runs the plan in reverse. Shows what will be destroyed and asks for the stack's name; without a terminal it\n" +
			"needs --yes. Stacks, configuration and secrets stay. Running it again carries on; destroying nothing succeeds.\n" +
			"A stack with `runner:protect: true` is destroyed only if its name is typed, or with --allow NAME. A cluster in a cloud is destroyed\n" +
			"only after its load balancers and volumes: any that were not created here are listed, and stop it.\n\n" +
			"Examples:\n  runner destroy -s dev --yes\n  runner destroy -s dev --only kubeconfig+ --remove-stacks",
		aliases: []string{"down"},
		flags:   destroyFlags(),
	})
}

// destroyFlags are the flags of destroy alone.
func destroyFlags() []cli.Flag {
	return append(allowFlags(),
		&cli.BoolFlag{Name: "remove-stacks", Usage: "also remove the stacks once they are empty"},
		&cli.BoolFlag{Name: "force-forget", Usage: "if the cluster is gone or cannot be reached, drop what was in it from the state"},
	)
}
