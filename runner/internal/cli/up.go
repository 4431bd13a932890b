package cli

import (
	"github.com/urfave/cli/v2"

	"mara/providers/operation"
)

func upCommand(d Deps) *cli.Command {
	return operationCommand(d, operation.Up, particulars{
		use: "create or update everything in the environment",
		description: "Runs the projects of the plan, each as soon as what it needs has succeeded. On a terminal it first asks for\n" +
			"configuration that is missing, in a new folder for all of it; then it shows what would change, and asks once.\n" +
			"When a project fails, what runs is finished and nothing that depends on it starts; --resume carries on with\n" +
			"what is left.\n\n" +
			"Examples:\n  runner up -p kind -s dev --simulate\n  runner up -s dev --parallel 1\n" +
			"  runner up -s dev --only +prometheus --retry 2\n  runner up -s dev --resume",
		flags: joinFlags(approveFlags(), diffFlags(), secretFlags()),
	})
}

func previewCommand(d Deps) *cli.Command {
	return operationCommand(d, operation.Preview, particulars{
		use: "show what up would change",
		description: "Shows in one table what would be created, updated, replaced and deleted in each project. Stacks that do\n" +
			"not exist yet are created empty, so that references to them are unknown rather than an error; a project that\n" +
			"depends on outputs that are not known yet is marked partial. --diff lists the resources above the table, with the\n" +
			"names of the properties that would change, never their values.\n\n" +
			"Examples:\n  runner preview -s dev\n  runner preview -s dev --diff\n  runner preview -s dev --exit-code",
		flags: joinFlags(exitCodeFlags(), diffFlags(), secretFlags()),
		codes: []int{exitChanges},
	})
}

func refreshCommand(d Deps) *cli.Command {
	return operationCommand(d, operation.Refresh, particulars{
		use: "bring the state in line with what really exists",
		description: "Projects that were never deployed are skipped. With --preview-only the state stays as it is, as with\n" +
			"`runner drift`.\n\n" +
			"Examples:\n  runner refresh -s dev\n  runner refresh -s dev --preview-only --exit-code",
		flags: append(exitCodeFlags(), &cli.BoolFlag{Name: "preview-only", Usage: "show what differs and leave the state as it is"}),
		codes: []int{exitChanges},
	})
}

func driftCommand(d Deps) *cli.Command {
	return operationCommand(d, operation.Drift, particulars{
		use: "show where what really exists differs from the state",
		description: "Compares all deployed projects with the clouds, side by side and without changing anything, and lists the\n" +
			"resources that were changed or deleted by others, with the properties that differ. A Helm release is compared as\n" +
			"a whole, by its chart, its values and its status: what others have changed of the objects in it is not found.\n" +
			"`runner refresh` takes what was found into the state, and `runner up` then puts it right.\n\n" +
			"Examples:\n  runner drift -s dev\n  runner drift -s dev --exit-code",
		flags: exitCodeFlags(),
		codes: []int{exitChanges},
	})
}

func destroyCommand(d Deps) *cli.Command {
	return operationCommand(d, operation.Destroy, particulars{
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

// exitCodeFlags let the exit code tell whether something changes or differs.
func exitCodeFlags() []cli.Flag {
	return []cli.Flag{&cli.BoolFlag{Name: "exit-code", Usage: "end with exit code 5 if there are changes"}}
}

// destroyFlags are the flags of destroy alone.
func destroyFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "remove-stacks", Usage: "remove the stacks, too, once they are empty"},
		&cli.BoolFlag{Name: "force-forget", Usage: "if the cluster is gone or cannot be reached, drop what was in it from the state"},
	}
}
