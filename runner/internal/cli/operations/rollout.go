package operations

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/feature/rollout"
	"mara/runner/internal/machine/failure"
)

type rolloutOptions struct {
	rollout.Options
	ExitCode changesExit
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
		rolloutCommand(d, operation.Preview, spec{
			use:         "show what up would change in many environments",
			description: "Environments are previewed side by side; nothing changes.",
			flags:       []string{"exit-code", "affected", "why", "on-missing-output"},
		}, "-l stage=prod", "--affected", "'prod-*' --exit-code"),
		rolloutCommand(d, operation.Up, spec{
			use: "roll out to many environments, in waves",
			description: "Environments are brought up in the waves of config/rollout.yaml. A wave begins when the waves\n" +
				"before it have succeeded, have soaked and their gates hold. When more environments fail than their\n" +
				"wave allows, nothing new starts; --resume continues with the rest. A later wave is refused until\n" +
				"the environments of earlier waves have succeeded with their current configuration.",
			flags: []string{
				"affected", "why", "on-missing-output", "secret", "generate-secrets", "force", "allow", "out-of-order", "skip-gate",
			},
		}, "--all", "--affected --yes", "-l stage=test --simulate", "--resume"),
		rolloutCommand(d, operation.Refresh, spec{
			use:         "bring the states of many environments in line with what exists",
			description: "Environments are refreshed side by side.",
			flags:       []string{"exit-code"},
		}, "-l region=eu", "--all", "'prod-*' --resume"),
		rolloutCommand(d, operation.Drift, spec{
			use:         "show where many environments differ from their states",
			description: "Environments are compared side by side; nothing changes.",
			flags:       []string{"exit-code", "deep"},
		}, "--all --exit-code", "-l stage=prod -o json", "'prod-*' --deep"),
		rolloutCommand(d, operation.Destroy, spec{
			use: "destroy many environments, the waves backwards",
			description: "The last wave goes first. It asks for the number of environments; without a terminal it needs\n" +
				"--yes. A protected environment is destroyed only if --allow names it. Nothing is deleted if one of\n" +
				"the environments is protected, has protected resources, or cannot be read.",
			flags: []string{"allow", "remove-stacks", "force-forget", "leave-behind"},
		}, "'review-*' --yes", "-l stage=test", "'review-*' --resume"),
		FleetReap(d),
		FleetUpgrade(d),
	}
}

func rolloutCommand(d cmd.Deps, op operation.Operation, own spec, examples ...string) *cli.Command {
	text := own.description + " Choose environments by name or\npattern, by labels, or with --all.\n\n" +
		"The other flags are those of `runner " + string(op) + "`, and mean in each environment what they mean there.\n\n" +
		"Examples:\n"
	for _, example := range examples {
		text += "  runner fleet " + string(op) + " " + example + "\n"
	}
	chooses := func(f cli.Flag) bool {
		return slices.Contains([]string{"stack", "provider", "failed", "resume-changed"}, f.Names()[0])
	}
	flags := slices.DeleteFunc(operateFlags(own.flags), chooses)
	return &cli.Command{
		Name: string(op), Usage: own.use, ArgsUsage: cmd.FleetArguments,
		Description: text + "\n" + own.exitText(),
		Flags:       cmd.JoinFlags(cmd.FleetFlags(), rolloutFlags(), flags),
		Action: cmd.Action(d, func(c *cli.Context, d cmd.Deps, common cmd.Common) (rolloutOptions, error) {
			return parseRollout(c, d, common, op)
		}, runRollout),
	}
}

func parseRollout(c *cli.Context, d cmd.Deps, common cmd.Common, op operation.Operation) (rolloutOptions, error) {
	one, err := parseOperate(c, d, common, op)
	o := rolloutOptions{ExitCode: one.ExitCode, Options: rollout.Options{
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
	case o.Chosen.IsEmpty() && !o.Affected.Asked && !o.Request.Rest.Resume && o.Command != rollout.ReapName:
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
	if o.Request.Guards, err = loadGuards(ctx, d, o.Request); err != nil {
		return err
	}
	return o.ExitCode.exit(rollout.Run(ctx, d.Deps, o.Options))
}

// affectedFlag takes a value, or none.
type affectedFlag struct{ *cli.GenericFlag }

// TakesValue keeps the word that follows the flag from being its value.
func (affectedFlag) TakesValue() bool { return false }

// affectedValue is the value of an affectedFlag.
type affectedValue struct{ text string }

// Set implements cli.Generic.
func (v *affectedValue) Set(text string) error { v.text = text; return nil }

// String implements cli.Generic.
func (v *affectedValue) String() string { return v.text }

// IsBoolFlag reports that the flag needs no value.
func (v *affectedValue) IsBoolFlag() bool { return true }

func parseAffected(c *cli.Context) rollout.Affected {
	value, ok := c.Generic("affected").(*affectedValue)
	if !ok || value.text == "" || value.text == "false" {
		return rollout.Affected{}
	}
	a := rollout.Affected{Asked: true, Ref: value.text, Why: c.Bool("why")}
	if a.Ref == "true" {
		a.Ref = ""
	}
	return a
}
