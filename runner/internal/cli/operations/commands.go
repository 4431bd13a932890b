package operations

import (
	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/operate"
	"mara/runner/internal/core/vault"
)

// Commands returns the commands preview, up, refresh, drift and destroy.
func Commands(d cmd.Deps) []cmd.Placed {
	return []cmd.Placed{
		{Group: cmd.ToBegin, Rank: 40, Daily: true, Command: operationCommand(d, operation.Preview, Spec{
			Use: "show what up would change",
			Description: "Shows in one table what would be created, updated, replaced and deleted in each project. Stacks\n" +
				"that do not exist yet are created empty, so that references to them are unknown rather than an\n" +
				"error; a project that depends on outputs that are not known yet is marked partial. Known outputs\n" +
				"are passed on, so that readers are previewed with the new values; an installed Pulumi (--pulumi)\n" +
				"reads the old ones. Above the table stands what would be lost, and what would change to which\n" +
				"values; --diff lists all of it. --save-plan writes every step of every project to a file,\n" +
				"with values but without secrets, for `runner up --plan FILE` and for other programs. A sheet of prices\n" +
				"gives the least that the environment costs.\n\n" +
				"Examples:\n  runner preview -s dev\n  runner preview -s dev --diff\n" +
				"  runner preview -s dev --exit-code",
			Flags: []string{
				"exit-code", "new", "save-plan", "target", "target-dependents", "replace", "refresh", "start-ahead", "on-missing-output", "max-monthly", "unknown-costs", "policy-pack", "diff", "full", "why",
				"secret", "generate-secrets", "simulate-cluster",
			},
		})},
		{Group: cmd.ToBegin, Rank: 50, Daily: true, Command: operationCommand(d, operation.Up, Spec{
			Use: "create or update everything in the environment",
			Description: "Runs the projects of the plan, each as soon as the projects that it needs have succeeded. On a\n" +
				"terminal it first asks for missing configuration, in a new directory for all of it; then it shows\n" +
				"what would change, and asks once. When a project fails, running projects finish and nothing that\n" +
				"depends on it starts; --resume continues with the rest. --plan carries out what a preview has\n" +
				"saved, and refuses if anything has changed since; --plan-digest refuses any other plan than the\n" +
				"approved one.\n\n" +
				"A project is skipped if nothing has changed since its last success: its program, configuration,\n" +
				"plugins, state, the outputs that it reads, and the engine; --force runs all. docs/performance.md\n" +
				"says more. In a stack with `runner:protect: true`, resources are only replaced or deleted once the\n" +
				"stack's name is typed, or if --allow names them; types of resources that hold no data need\n" +
				"neither. In any stack that holds for a Kubernetes cluster, with which everything in it goes.\n\n" +
				"Examples:\n  runner up -p kind -s dev --simulate\n  runner up -s dev --parallel 1\n" +
				"  runner up -s dev --only +prometheus --retry 2\n  runner up -s dev --resume",
			Flags: []string{
				"auto-approve-if", "force", "target", "target-dependents", "replace", "refresh", "start-ahead", "allow", "new", "plan", "plan-digest",
				"unknown-programs", "on-missing-output", "max-monthly", "unknown-costs", "policy-pack", "diff", "full", "why", "secret", "generate-secrets", "simulate-cluster",
			},
		})},
		{Group: cmd.OneEnvironment, Rank: 80, Daily: true, Command: operationCommand(d, operation.Refresh, Spec{
			Use: "bring the state in line with what really exists",
			Description: "Skips projects that were never deployed. With --preview-only the state stays as it is, as with\n" +
				"`runner drift`.\n\n" +
				"Examples:\n  runner refresh -s dev\n  runner refresh -s dev --preview-only --exit-code\n" +
				"  runner refresh -s dev --only kubeconfig+",
			Flags: []string{"allow", "exit-code", "preview-only"},
		})},
		{Group: cmd.OneEnvironment, Rank: 90, Daily: true, Command: operationCommand(d, operation.Drift, Spec{
			Use: "show where what really exists differs from the state",
			Description: "Compares all deployed projects with the clouds, in parallel and without changing anything, and\n" +
				"lists the resources that others have changed or deleted, with the properties that differ.\n" +
				"`runner refresh` writes the differences to the state, and `runner up` then corrects them.\n\n" +
				"A Helm release is compared as a whole, by its chart, its values and its status. With --deep the\n" +
				"objects in it are compared, too: the cluster reports what applying the release's manifest would\n" +
				"change, as a dry run. Deleted objects, and fields that the manifest sets and others have changed,\n" +
				"are shown and counted, with the command that repairs the release: refresh and up do not see them.\n" +
				"A simulated cluster has none.\n\n" +
				"Examples:\n  runner drift -s dev\n  runner drift -s dev --deep --exit-code\n" +
				"  runner drift -s dev --only bank-of-anthos -o json",
			Flags: []string{"exit-code", "deep"},
		})},
		{Group: cmd.OneEnvironment, Rank: 100, Daily: true, Command: operationCommand(d, operation.Destroy, Spec{
			Use: "destroy everything in the environment",
			Description: "Runs the plan in reverse. Shows what will be destroyed and asks for the stack's name; without a\n" +
				"terminal it needs --yes. Stacks, configuration and secrets stay. Running it again continues;\n" +
				"destroying nothing succeeds. A stack with `runner:protect: true` is destroyed only if its name is\n" +
				"typed, or with --allow NAME. A cluster in a cloud is destroyed only after its load balancers and\n" +
				"volumes: any that were not created here are listed, and stop it. So does a cluster that does not\n" +
				"answer, or refuses to with 401 or 403; --leave-behind continues. Stacks whose project was renamed,\n" +
				"or removed from mara.yaml, stay, and a warning lists them; --orphans destroys them.\n\n" +
				"Examples:\n  runner destroy -s dev --yes\n" +
				"  runner destroy -s dev --only kubeconfig+ --remove-stacks\n" +
				"  runner destroy -s dev --resume",
			Aliases: []string{"down"},
			Flags:   []string{"allow", "remove-stacks", "force-forget", "leave-behind", "orphans"},
		})},
	}
}

// FlagsOf returns flags that only some operations have, by their names.
func FlagsOf(names ...string) []cli.Flag {
	all := []cli.Flag{
		affectedFlag{&cli.GenericFlag{
			Name: "affected", Value: &affectedValue{},
			Usage: "choose environments whose values, programs or read outputs have changed since their last success; " +
				"--affected=REF: since a commit of git",
		}},
		&cli.StringSliceFlag{
			Name: "allow",
			Usage: "allow the loss of `NAME`, in a protected environment or of a cluster: the stack for everything, else " +
				"the name or type of a resource; or pass the guard that names NAME in its refusal; may be repeated",
		},
		&cli.GenericFlag{
			Name: "auto-approve-if",
			Value: &cmd.Choice{
				Allowed: []string{string(operate.NoDeletes), string(operate.NoReplaces)}, Value: string(operate.NoRule),
			},
			Usage: "preview first, and do not ask if the preview follows `RULE`: no-deletes, no-replaces",
		},
		&cli.BoolFlag{Name: "deep", Usage: "look inside Helm releases, too"},
		&cli.BoolFlag{Name: "diff", Usage: "list all resources that the preview would change or create, with all values"},
		&cli.BoolFlag{Name: "full", Usage: "list the same as --diff, with long values and texts in full"},
		&cli.BoolFlag{Name: "why", Usage: "list why each project runs or is skipped: the file, key, output or " +
			"variable; of a fleet with --affected: why each environment is affected; of its status: all reasons"},
		&cli.BoolFlag{Name: "exit-code", Usage: "exit with code 5 if there are changes"},
		&cli.BoolFlag{Name: "force", Usage: "run all projects, also unchanged ones"},
		&cli.BoolFlag{
			Name: "force-forget", Usage: "if the cluster is gone or cannot be reached, drop what was in it from the state",
		},
		&cli.BoolFlag{
			Name: "orphans", Usage: "destroy the stacks of this environment that no project claims any more, and nothing else",
		},
		&cli.BoolFlag{
			Name: "leave-behind", Usage: "destroy a cluster also if it may leave load balancers and volumes behind in its cloud",
		},
		&cli.BoolFlag{Name: "generate-secrets", Usage: "generate the secrets that are missing, and store them encrypted"},
		&cli.Float64Flag{
			Name:        "max-monthly",
			Usage:       "forbid what costs more than `AMOUNT` a month, or what has no known price: see --unknown-costs",
			DefaultText: "no limit",
		},
		cmd.ChoiceFlag(operate.MissingOutputFlag,
			"if a program reads an output that does not exist, which Pulumi takes for null, `DO`: error, warn",
			operate.MissingOutputError, operate.MissingOutputWarn),
		&cli.IntFlag{
			Name: "start-ahead", DefaultText: "as many as --parallel, fewer if memory is short",
			Usage: "start up to `N` programs in TypeScript, Python, Go and others while the projects run that they need; 0 starts none",
		},
		&cli.BoolFlag{Name: "new", Usage: "make an environment that neither files nor the backend know yet"},
		&cli.BoolFlag{Name: "out-of-order", Usage: "do not ask whether earlier waves have succeeded"},
		&cli.StringFlag{Name: "plan", Usage: "carry out `FILE`, a plan of `runner preview --save-plan FILE`, and nothing else"},
		&cli.StringFlag{
			Name: digestFlag, Usage: "with --plan: refuse a plan whose digest is not `DIGEST`, which --save-plan prints",
		},
		&cli.StringSliceFlag{Name: "policy-pack", Usage: "have Pulumi run the policy pack in `DIR`; may be repeated"},
		&cli.BoolFlag{Name: "preview-only", Usage: "show what differs and leave the state as it is"},
		&cli.BoolFlag{
			Name: "refresh", Usage: "read the resources of each project from its cloud before it is updated",
		},
		&cli.BoolFlag{Name: "remove-stacks", Usage: "also remove the stacks once they are empty"},
		&cli.StringSliceFlag{
			Name: "replace", Usage: "replace this resource, a `URN` or a name in the state; may be repeated, in one project",
		},
		&cli.StringFlag{Name: "save-plan", Usage: "write what up would do to `FILE`, for `runner up --plan FILE`"},
		&cli.StringSliceFlag{
			Name:  "secret",
			Usage: "store this secret first, `KEY=SOURCE`; the source is " + vault.SourceForms + "; may be repeated",
		},
		&cli.StringFlag{
			Name: "simulate-cluster", Category: cmd.CommonCategory,
			Usage: "have the cluster of a `KUBECONFIG` check simulated Kubernetes objects, as server-side dry runs",
		},
		&cli.StringSliceFlag{
			Name: "skip-gate", Usage: "do not wait for gates of this `KIND`: drift, answers, run, ask; may be repeated",
		},
		&cli.StringSliceFlag{
			Name: "target", Aliases: []string{"t"},
			Usage: "touch only this resource, a `URN` or a name in the state; may be repeated, in one project",
		},
		&cli.BoolFlag{Name: "target-dependents", Usage: "with --target: touch what depends on it, too"},
		cmd.ChoiceFlag("unknown-age",
			"`WHAT` to do with environments of unknown age, whose states have no dates: refuse (a failure), keep, destroy",
			RefuseUnknown, KeepUnknown, DestroyUnknown),
		cmd.ChoiceFlag("unknown-costs",
			"with --max-monthly: `WHAT` to do where a price is not known: deny, or allow, which counts what has a price",
			denyUnknown, allowUnknown),
		cmd.ChoiceFlag("unknown-programs",
			"with --plan: `WHAT` to do with a program that cannot be compared with the planned one: deny, or allow",
			denyUnknown, allowUnknown),
	}
	return lists.Map(names, func(name string) cli.Flag {
		flag, _ := cmd.FindFlag(all, name)
		return flag
	})
}
