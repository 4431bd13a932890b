package rollout

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/operations"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/machine/failure"
)

type rolloutOptions struct {
	Options
	ExitCode operations.ChangesExit
}

func rolloutFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{
			Name: "environments", Value: cmd.DefaultParallel,
			Usage: "work on up to `N` environments at once; waves may allow fewer",
		},
		&cli.IntFlag{
			Name: "total", Value: 2 * cmd.DefaultParallel,
			Usage: "run up to `N` projects at once in all environments; --parallel is the limit in one",
		},
	}
}

// Rollouts returns the commands that work on many environments.
func Rollouts(d cmd.Deps) []*cli.Command {
	return []*cli.Command{
		FleetPlan(d),
		FleetStatus(d),
		rolloutCommand(d, operation.Preview, operations.Spec{
			Use:         "show what up would change in many environments",
			Description: "Environments are previewed side by side; nothing changes.",
			Flags: []string{
				"exit-code", "affected", "diff", "full", "why", "on-missing-output", "max-monthly", "unknown-costs", "policy-pack",
			},
		}, "-l stage=prod", "--affected", "'prod-*' --exit-code"),
		rolloutCommand(d, operation.Up, operations.Spec{
			Use: "roll out to many environments, in waves",
			Description: "Environments are brought up in the waves of config/rollout.yaml. A wave begins when the waves\n" +
				"before it have succeeded, have soaked and their gates hold. When more environments fail than their\n" +
				"wave allows, nothing new starts; --resume continues with the rest. A later wave is refused until\n" +
				"the environments of earlier waves have succeeded with their current configuration.",
			Flags: []string{
				"affected", "why", "on-missing-output", "max-monthly", "unknown-costs", "policy-pack", "secret", "generate-secrets",
				"force", "allow", "out-of-order", "skip-gate",
			},
		}, "--all", "--affected --yes", "-l stage=test --simulate", "--resume"),
		rolloutCommand(d, operation.Refresh, operations.Spec{
			Use:         "bring the states of many environments in line with what exists",
			Description: "Environments are refreshed side by side.",
			Flags:       []string{"exit-code"},
		}, "-l region=eu", "--all", "'prod-*' --resume"),
		rolloutCommand(d, operation.Drift, operations.Spec{
			Use:         "show where many environments differ from their states",
			Description: "Environments are compared side by side; nothing changes.",
			Flags:       []string{"exit-code", "deep"},
		}, "--all --exit-code", "-l stage=prod -o json", "'prod-*' --deep"),
		rolloutCommand(d, operation.Destroy, operations.Spec{
			Use: "destroy many environments, the waves backwards",
			Description: "The last wave goes first. It asks for the number of environments; without a terminal it needs\n" +
				"--yes. A protected environment is destroyed only if --allow names it. Nothing is deleted if one of\n" +
				"the environments is protected, has protected resources, or cannot be read.",
			Flags: []string{"allow", "remove-stacks", "force-forget", "leave-behind"},
		}, "'review-*' --yes", "-l stage=test", "'review-*' --resume"),
		FleetReap(d),
		FleetUpgrade(d),
	}
}

func rolloutCommand(d cmd.Deps, op operation.Operation, own operations.Spec, examples ...string) *cli.Command {
	text := own.Description + " Choose environments by name or\npattern, by labels, or with --all.\n\n" +
		"The other flags are those of `runner " + string(op) + "`, and mean in each environment what they mean there.\n\n" +
		"Examples:\n"
	for _, example := range examples {
		text += "  runner fleet " + string(op) + " " + example + "\n"
	}
	chooses := func(f cli.Flag) bool {
		return slices.Contains([]string{"stack", "provider", "failed", "resume-changed"}, f.Names()[0])
	}
	flags := slices.DeleteFunc(operations.OperateFlags(own.Flags), chooses)
	return &cli.Command{
		Name: string(op), Usage: own.Use, ArgsUsage: cmd.FleetArguments,
		Description: text + "\n" + own.ExitText(),
		Flags:       cmd.JoinFlags(cmd.FleetFlags(), rolloutFlags(), flags),
		Action: cmd.Action(d, func(c *cli.Context, d cmd.Deps, common cmd.Common) (rolloutOptions, error) {
			return parseRollout(c, d, common, op)
		}, runRollout),
	}
}

func parseRollout(c *cli.Context, d cmd.Deps, common cmd.Common, op operation.Operation) (rolloutOptions, error) {
	one, err := operations.ParseOperate(c, d, common, op)
	o := rolloutOptions{ExitCode: one.ExitCode, Options: Options{
		Request: one.Request, View: one.View, Affected: parseAffected(c),
		AtOnce: c.Int("environments"), Total: c.Int("total"),
		OutOfOrder: c.Bool("out-of-order"), Command: c.Command.Name,
	}}
	if err != nil {
		return o, err
	}
	if o.Chosen, err = cmd.ParseFleet(c, c.Args().Slice()); err != nil {
		return o, err
	}
	for _, kind := range c.StringSlice("skip-gate") {
		o.SkipGates = append(o.SkipGates, fleet.GateKind(kind))
		if !slices.Contains(fleet.GateKinds(), fleet.GateKind(kind)) {
			return o, failure.Usagef(cmd.Path(c), "--skip-gate: unknown gate %q; choose drift, answers, run or ask", kind)
		}
	}
	switch {
	case o.Chosen.IsEmpty() && !o.Affected.Asked && !o.Request.Rest.Resume && o.Command != ReapName:
		return o, failure.Usagef(cmd.Path(c), "which environments? name them, or use -l SELECTOR or --all")
	case o.AtOnce < 1 || o.Total < 1:
		return o, failure.Usagef(cmd.Path(c), "--environments and --total: must be numbers above 0")
	}
	return o, nil
}

// choose returns the chosen environments of the fleet.
func (o rolloutOptions) choose() ([]fleet.Environment, error) {
	all, _, err := o.Request.Fleet()
	if err != nil {
		return nil, err
	}
	return fleet.Select(all, o.Chosen)
}

func runRollout(ctx context.Context, d cmd.Deps, o rolloutOptions) (err error) {
	if o.Request.Guards, err = operations.LoadGuards(ctx, d, o.Request); err != nil {
		return err
	}
	return o.ExitCode.Exit(Run(ctx, d.Deps, o.Options))
}

func parseAffected(c *cli.Context) Affected {
	asked, ref := operations.ParseAffected(c)
	return Affected{Asked: asked, Ref: ref, Why: asked && c.Bool("why")}
}
