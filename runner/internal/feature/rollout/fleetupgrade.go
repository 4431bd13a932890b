package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/operations"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/feature/upgrade"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/typeset"
)

// FleetUpgrade returns `runner fleet upgrade`.
func FleetUpgrade(d cmd.Deps) *cli.Command {
	command := rolloutCommand(d, operation.Up, operations.Spec{
		Use:   "upgrade Kubernetes and charts of many environments, in waves",
		Flags: []string{"allow", "out-of-order", "skip-gate"},
	})
	command.Name = UpgradeName
	command.Description = "Finds the steps of each environment, as `runner upgrade plan` does, and takes them in the waves of\n" +
		"config/rollout.yaml: a wave begins when all steps of the waves before it have succeeded, have soaked and\n" +
		"their gates hold. It refuses to begin while something stands against the upgrade of one of the\n" +
		"environments. Each step writes the stack file of its environment. The steps are found from what runs:\n" +
		"after a failure, run it again, and it continues.\n\n" +
		"Examples:\n  runner fleet upgrade -l stage=test --yes\n  runner fleet upgrade --all --kubernetes 1.36\n" +
		"  runner fleet upgrade 'prod-*' --skip-gate ask\n\n" +
		cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked, cmd.ExitInterrupted)
	command.Flags = slices.DeleteFunc(command.Flags, isNoFlagOfSteps)
	command.Flags = append([]cli.Flag{upgrade.KubernetesFlag(), upgrade.DespiteFlag()}, command.Flags...)
	command.Action = cmd.Action(d, func(c *cli.Context, d cmd.Deps, common cmd.Common) (fleetUpgradeOptions, error) {
		o, err := parseRollout(c, d, common, operation.Up)
		return fleetUpgradeOptions{o, c.String("kubernetes"), c.Bool("despite-obstacles")}, err
	}, runFleetUpgrade)
	return command
}

// isNoFlagOfSteps reports whether a flag of rollouts chooses what the steps of an upgrade choose themselves.
func isNoFlagOfSteps(f cli.Flag) bool {
	return slices.Contains([]string{"only", "skip", "from", "until", "config", "resume", operations.NewBackendName}, f.Names()[0])
}

type fleetUpgradeOptions struct {
	rolloutOptions
	To      string // version of Kubernetes
	Despite bool   // begin in spite of obstacles
}

func runFleetUpgrade(ctx context.Context, d cmd.Deps, o fleetUpgradeOptions) error {
	chosen, err := o.choose()
	if err != nil {
		return err
	}
	plans, err := parallel.Each(ctx, chosen, func(ctx context.Context, e fleet.Environment) (upgrade.Plan, error) {
		options := o.Request.Options
		options.Request = options.Of(e.Stack)
		found, err := upgrade.FindPlan(ctx, d, options, o.To)
		if err != nil {
			err = fmt.Errorf("%s: %w", e.Stack, err)
		}
		return found, err
	})
	if err != nil {
		return err
	}
	o.Steps = map[string][]Step{}
	var stopped, upgraded []string
	for _, found := range plans {
		fmt.Fprint(d.Stderr, found.Summary(d.Width()))
		if len(found.Stopping()) > 0 {
			stopped = append(stopped, found.Environment)
		}
		if steps := o.stepsOf(found); len(steps) > 0 {
			o.Steps[found.Environment] = steps
			upgraded = append(upgraded, found.Environment)
		}
	}
	switch {
	case len(stopped) > 0 && !o.Despite:
		return &failure.Environment{
			Text: fmt.Sprintf("obstacles against the upgrade of %s: %s", typeset.Counted(len(stopped), "environment"),
				strings.Join(stopped, ", ")),
			Next: "remove what is marked with ✗, and run it again; --despite-obstacles begins all the same",
		}
	case len(o.Steps) == 0:
		return nil
	}
	o.Chosen = fleet.Selection{Names: upgraded}
	return runRollout(ctx, d, o.rolloutOptions)
}

// stepsOf returns the ups of an environment, each of which begins with its change in the stack file.
func (o fleetUpgradeOptions) stepsOf(found upgrade.Plan) (steps []Step) {
	of := o.Request.Options.Of(found.Environment)
	for _, step := range found.Steps {
		steps = append(steps, Step{Title: step.Title, Only: found.After(step), Begin: func() error {
			_, err := upgrade.WriteStep(of, step)
			return err
		}})
	}
	return steps
}
