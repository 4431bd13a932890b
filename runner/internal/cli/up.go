package cli

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/event"
)

func upCommand(d Deps) *cli.Command {
	return operationCommand(d, event.Up,
		"create or update everything in the environment",
		"Runs the projects of the plan, each as soon as what it needs has succeeded. When one fails, what runs is\n"+
			"finished, nothing that depends on it starts, and running the same command again carries on.\n\n"+
			"Examples:\n  runner up -p kind -s dev --simulate\n  runner up -s dev --parallel 1")
}

func previewCommand(d Deps) *cli.Command {
	return operationCommand(d, event.Preview,
		"show what up would change",
		"Stacks that do not exist yet are created empty, so that references to them are unknown rather than an error.\n\n"+
			"Example:\n  runner preview -s dev")
}

func refreshCommand(d Deps) *cli.Command {
	return operationCommand(d, event.Refresh,
		"bring the state in line with what really exists",
		"Projects that were never deployed are skipped.\n\nExample:\n  runner refresh -s dev")
}

func destroyCommand(d Deps) *cli.Command {
	return operationCommand(d, event.Destroy,
		"destroy everything in the environment",
		"Walks the plan backwards. Asks for the stack's name first; without a terminal it needs --yes. Stacks,\n"+
			"configuration and secrets stay. Running it again carries on; destroying nothing succeeds.\n\n"+
			"Example:\n  runner destroy -s dev --yes",
		"down")
}
