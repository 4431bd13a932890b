// Package trial has the commands that deploy and destroy an example environment: try on
// a real cloud, demo on a simulated one.
package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/projects/model"
	"mara/providers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/failure"
)

// deadline is how long a trial may take before it is destroyed.
const deadline = 2 * time.Hour

// attempts is how often a trial tries to destroy, with pauses of pauseTime.
const (
	attempts  = 3
	pauseTime = time.Minute
)

// Try returns `runner try`.
func Try(d cmd.Deps, run cmd.RunFunc) *cli.Command {
	return &cli.Command{
		Name: "try", Usage: "deploy the cheapest complete environment on a cloud, check it, and destroy it",
		ArgsUsage: strings.Join(providers.Tried(), "|"),
		Description: "Shows whether the runner works with your cloud account. It creates a directory with a " +
			"minimal configuration: the smallest nodes that everything fits on, and one replica of everything in " +
			"the cluster. It prints the cost, asks, and then runs doctor, up, up again, drift, status and destroy. " +
			"It always destroys the environment: after a failure, after Ctrl-C, and after two hours; it tries up to " +
			"three times. At the end it asks the cloud for leftover resources, and writes a report to attach to " +
			"docs/tested.md.\n\n" +
			"The region and the credentials come from the environment: AWS_REGION and AWS_PROFILE, or " +
			"LINODE_TOKEN.\n\n" +
			"Examples:\n  runner try aws\n  runner try linode --yes\n  runner try aws --simulate --yes\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{&cli.StringFlag{Name: "directory", Usage: "write the configuration and the report to `DIR`",
				DefaultText: "mara-try-PROVIDER"}},
			cmd.ConfirmFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parse, func(ctx context.Context, d cmd.Deps, o options) error {
			return runTry(ctx, d, o, run)
		}),
	}
}

type options struct {
	cmd.Common
	Provider  model.Provider
	Directory string        // "" for the default
	Pause     time.Duration // between attempts to destroy
	common    []string
}

func parse(c *cli.Context, _ cmd.Deps, shared cmd.Common) (o options, err error) {
	o = options{Common: shared, Directory: c.String("directory"), Pause: pauseTime}
	if c.NArg() == 0 {
		return o, failure.Usagef("try", "which cloud? known: %s", strings.Join(providers.Tried(), ", "))
	}
	if o.Provider, err = providers.ByName(c.Args().First()); err != nil {
		return o, failure.Usagef("try", "%v", err)
	}
	if len(o.Provider.Trial.Costs) == 0 {
		return o, &failure.Usage{Text: fmt.Sprintf("%s runs on this machine for free; it needs no trial", o.Provider.Name),
			Next: "use `runner up -p " + o.Provider.Name + "`"}
	}
	o.common = passedOn(c, cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags())
	return o, nil
}

// passedOn returns those of flags that were given. Every command of the trial gets them.
func passedOn(c *cli.Context, flags ...[]cli.Flag) (args []string) {
	for _, flag := range slices.Concat(flags...) {
		name := flag.Names()[0]
		switch {
		case !c.IsSet(name):
		case cmd.MayRepeat(flag):
			for _, value := range c.StringSlice(name) {
				args = append(args, "--"+name, value)
			}
		default:
			args = append(args, fmt.Sprintf("--%s=%v", name, c.Value(name)))
		}
	}
	return args
}
