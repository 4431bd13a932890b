package operations

import (
	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
	"github.com/urfave/cli/v2"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/secrets/vault"
)

// Commands are preview, up, refresh, drift and destroy.
func Commands(d cmd.Deps) []*cli.Command {
	return []*cli.Command{
		operationCommand(d, operation.Preview, spec{
			use: "show what up would change",
			description: "Shows in one table what would be created, updated, replaced and deleted in each project. Stacks that do\n" +
				"not exist yet are created empty, so that references to them are unknown rather than an error; a project that\n" +
				"depends on outputs not yet known is marked partial. Known outputs are handed on, so that readers are\n" +
				"previewed with the new values; an installed Pulumi (--pulumi) reads the old ones. --diff lists the resources above the table, with the\n" +
				"names of the properties that would change, never their values. --save-plan writes every step of every\n" +
				"project to a file, with values but without secrets, for `runner up --plan` and for other programs. What the environment costs at least is told by a sheet of prices.\n\n" +
				"Examples:\n  runner preview -s dev\n  runner preview -s dev --diff\n  runner preview -s dev --exit-code",
			flags: []string{"exit-code", "save-plan", "on-missing-output", "max-monthly", "unknown-costs", "policy-pack", "diff", "secret", "generate-secrets", "simulate-cluster"},
			codes: []int{cmd.ExitChanges},
		}),
		operationCommand(d, operation.Up, spec{
			use: "create or update everything in the environment",
			description: "Runs the projects of the plan, each as soon as those it needs have succeeded. On a terminal it first asks for\n" +
				"missing configuration, in a new directory for all of it; then it shows what would change, and asks once. When a\n" +
				"project fails, running projects finish and nothing that depends on it starts; --resume carries on with what\n" +
				"is left. --plan does what a preview has saved, and refuses if anything has changed since;\n" +
				"--plan-digest refuses any other plan than the approved one.\n\n" +
				"A project for which nothing has changed since its last success is left out: its program, configuration, the\n" +
				"outputs that it reads, its plugins, the engine and its state; --force runs all. docs/performance.md says more.\n" +
				"In a stack with `runner:protect: true`, resources are only replaced or deleted once the stack's name is typed,\n" +
				"or --allow names them; types with which nothing is lost go without.\n\n" +
				"Examples:\n  runner up -p kind -s dev --simulate\n  runner up -s dev --parallel 1\n" +
				"  runner up -s dev --only +prometheus --retry 2\n  runner up -s dev --resume",
			flags: []string{"auto-approve-if", "force", "allow", "plan", "plan-digest", "unknown-programs", "on-missing-output", "max-monthly", "unknown-costs", "policy-pack", "diff", "secret", "generate-secrets", "simulate-cluster"},
		}),
		operationCommand(d, operation.Refresh, spec{
			use: "bring the state in line with what really exists",
			description: "Skips projects that were never deployed. With --preview-only the state stays as it is, as with\n" +
				"`runner drift`.\n\n" +
				"Examples:\n  runner refresh -s dev\n  runner refresh -s dev --preview-only --exit-code",
			flags: []string{"exit-code", "preview-only"},
			codes: []int{cmd.ExitChanges},
		}),
		operationCommand(d, operation.Drift, spec{
			use: "show where what really exists differs from the state",
			description: "Compares all deployed projects with the clouds, in parallel and without changing anything, and lists the\n" +
				"resources that others have changed or deleted, with the properties that differ. `runner refresh` takes what was\n" +
				"found into the state, and `runner up` then puts it right.\n\n" +
				"A Helm release is compared as a whole, by its chart, its values and its status. With --deep the objects in it\n" +
				"are compared, too: the cluster tells what applying the release's manifest would change, as a dry run. Objects\n" +
				"that are gone, and fields that the manifest sets and others have changed, are shown and counted, with the\n" +
				"command that puts the release right: refresh and up do not see them. A simulated cluster has none.\n\n" +
				"Examples:\n  runner drift -s dev\n  runner drift -s dev --deep --exit-code",
			flags: []string{"exit-code", "deep"},
			codes: []int{cmd.ExitChanges},
		}),
		operationCommand(d, operation.Destroy, spec{
			use: "destroy everything in the environment",
			description: "Runs the plan in reverse. Shows what will be destroyed and asks for the stack's name; without a terminal it\n" +
				"needs --yes. Stacks, configuration and secrets stay. Running it again carries on; destroying nothing succeeds.\n" +
				"A stack with `runner:protect: true` is destroyed only if its name is typed, or with --allow NAME. A cluster in a cloud is destroyed\n" +
				"only after its load balancers and volumes: any that were not created here are listed, and stop it. So does a\n" +
				"cluster that does not answer, or refuses to with 401 or 403; --leave-behind goes on.\n" +
				"Stacks whose project was renamed, or removed from mara.yaml, stay, and are told of; --orphans destroys them.\n\n" +
				"Examples:\n  runner destroy -s dev --yes\n  runner destroy -s dev --only kubeconfig+ --remove-stacks",
			aliases: []string{"down"},
			flags:   []string{"allow", "remove-stacks", "force-forget", "leave-behind", "orphans"},
		}),
	}
}

// flagsOf returns flags that only some operations have, by their names.
func flagsOf(names ...string) []cli.Flag {
	all := []cli.Flag{
		affectedFlag{&cli.GenericFlag{
			Name: "affected", Value: &affectedValue{},
			Usage: "choose environments whose values, programs or outputs that are read have changed since they last succeeded; --affected=REF: since a commit of git",
		}},
		&cli.StringSliceFlag{Name: "allow", Usage: "in a protected environment, allow the loss of `NAME`: the stack for everything, else the name or type of a resource; may be repeated"},
		&cli.GenericFlag{
			Name: "auto-approve-if", Value: &cmd.Choice{Allowed: []string{string(noDeletes), string(noReplaces)}, Value: string(noRule)},
			Usage: "preview first, and do not ask if the preview follows `RULE`: no-deletes, no-replaces",
		},
		&cli.BoolFlag{Name: "deep", Usage: "look inside Helm releases, too"},
		&cli.BoolFlag{Name: "diff", Usage: "list the resources that the preview would change, with their properties"},
		&cli.BoolFlag{Name: "exit-code", Usage: "exit with code 5 if there are changes"},
		&cli.BoolFlag{Name: "force", Usage: "run all projects, also those for which nothing has changed since their last success"},
		&cli.BoolFlag{Name: "force-forget", Usage: "if the cluster is gone or cannot be reached, drop what was in it from the state"},
		&cli.BoolFlag{Name: "orphans", Usage: "destroy the stacks of this environment that no project claims any more, and nothing else"},
		&cli.BoolFlag{Name: "leave-behind", Usage: "destroy a cluster also if it may leave load balancers and volumes behind in its cloud"},
		&cli.BoolFlag{Name: "generate-secrets", Usage: "generate the secrets that are missing, and store them encrypted"},
		maxMonthlyFlag(),
		onMissingOutputFlag(),
		&cli.BoolFlag{Name: "out-of-order", Usage: "do not ask whether earlier waves have succeeded"},
		&cli.StringFlag{Name: "plan", Usage: "do what `FILE` says, which `runner preview --save-plan` has written, and nothing else"},
		&cli.StringFlag{Name: digestFlag, Usage: "with --plan: refuse a plan whose digest is not `DIGEST`, which --save-plan prints"},
		&cli.StringSliceFlag{Name: "policy-pack", Usage: "have Pulumi run the policy pack in `DIR`; may be repeated"},
		&cli.BoolFlag{Name: "preview-only", Usage: "show what differs and leave the state as it is"},
		&cli.BoolFlag{Name: "remove-stacks", Usage: "also remove the stacks once they are empty"},
		&cli.StringFlag{Name: "save-plan", Usage: "write what up would do to `FILE`, for `runner up --plan`"},
		&cli.StringSliceFlag{Name: "secret", Usage: "store this secret first, `KEY=SOURCE`; the source is " + vault.SourceForms + "; may be repeated"},
		&cli.StringFlag{
			Name: "simulate-cluster", Category: cmd.CommonCategory,
			Usage: "have the cluster of a `KUBECONFIG` check simulated Kubernetes objects, as server-side dry runs",
		},
		&cli.StringSliceFlag{Name: "skip-gate", Usage: "do not wait for gates of this `KIND`: drift, answers, run, ask; may be repeated"},
		unknownAgeFlag(),
		unknownCostsFlag(),
		unknownProgramsFlag(),
		&cli.BoolFlag{Name: "why", Usage: "with --affected: print why each environment is affected"},
	}
	return slice.Map(names, func(name string) cli.Flag {
		flag, _ := cmd.FindFlag(all, name)
		return flag
	})
}
