// Package operations has the commands that work on an environment: up, preview,
// refresh, drift and destroy, for one and for many environments; and unlock and repair,
// which clean up after runs that were cut off. The work itself is in workflow.
package operations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/configuration"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/secrets/vault"
	"mara/runner/internal/workflow/operate"
	"mara/runner/internal/workflow/relay"

	"github.com/urfave/cli/v2"
)

// options are those of up, preview, refresh, drift and destroy.
type options struct {
	cmd.Common
	Request  operate.Request
	View     relay.View
	ExitCode bool // changes have an exit code of their own
}

// operateFlags returns the flags of all operations, after some that only few have.
func operateFlags(own []string) []cli.Flag {
	return cmd.JoinFlags(
		flagsOf(own...), cmd.SelectionFlags(), []cli.Flag{
			&cli.StringSliceFlag{
				Name: "config",
				Usage: "use this configuration value for this run only, `KEY=VALUE`; may be repeated; `runner config set` " +
					"stores it",
			},
			&cli.BoolFlag{Name: "failed", Usage: "run only what failed in the last run"},
			&cli.BoolFlag{Name: "resume", Usage: "resume the last run: what failed in it, never ran, or has changed since"},
			&cli.BoolFlag{
				Name:  "resume-changed",
				Usage: "like --resume, even if the configuration has changed since; what that changes runs again",
			},
			newBackendFlag(),
		}, executionFlags(), cmd.LockFlags(), cmd.OutputFlag("text", "json"), showFlags(),
		[]cli.Flag{&cli.BoolFlag{Name: "profile", Usage: "print to stderr where the time went"}},
		cmd.EnvironmentFlags(), cmd.ConfirmFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
	)
}

type spec struct {
	use, description string
	aliases          []string
	flags            []string // besides those of all operations
	codes            []int    // exit codes besides the usual ones
}

func operationCommand(d cmd.Deps, op operation.Operation, own spec) *cli.Command {
	codes := append([]int{
		cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked, cmd.ExitInterrupted,
	}, own.codes...)
	slices.Sort(codes)
	return &cli.Command{
		Name:        string(op),
		Aliases:     own.aliases,
		Usage:       own.use,
		Description: own.description + "\n\n" + cmd.ExitText(codes...),
		Flags:       operateFlags(own.flags),
		Action: cmd.Action(d, func(c *cli.Context, d cmd.Deps, common cmd.Common) (options, error) {
			return parseOperate(c, d, common, op)
		}, runOperation),
	}
}

func parseOperate(c *cli.Context, d cmd.Deps, common cmd.Common, op operation.Operation) (o options, err error) {
	o.Common = common
	o.Operation = op
	o.ChangeProvider = true // open checks that nothing is deployed
	if o.Simulation.Cluster = c.String("simulate-cluster"); o.Simulation.Cluster != "" && !o.Simulation.On {
		return o, failure.Usagef(
			c.Command.Name, "--simulate-cluster needs --simulate: it asks a cluster about what is simulated",
		)
	}
	if c.Bool("preview-only") {
		o.Operation = operation.Drift
	}
	if o.Overrides, err = parseOverrides(c, o.Common.Request); err != nil {
		return o, err
	}
	if o.LockTimeout, err = cmd.ParseLock(c); err != nil {
		return o, err
	}
	r := operate.Request{
		Yes: o.Yes, Approve: operate.Rule(cmd.Chosen(c, "auto-approve-if")), Allow: c.StringSlice("allow"),
		Force: c.Bool("force"), Deep: c.Bool("deep"), NewBackend: c.Bool(newBackendName), Carried: parseCarried(c),
		WarnMissing: cmd.Chosen(c, operate.MissingOutputFlag) == operate.MissingOutputWarn,
		Removal: operate.Removal{
			Stacks: c.Bool("remove-stacks"), Forget: c.Bool("force-forget"), LeaveBehind: c.Bool("leave-behind"),
			Orphans: c.Bool("orphans"),
		},
	}
	if r.Execution, err = parseExecution(c); err != nil {
		return o, err
	}
	o.AtOnce, o.Profile, o.NeedSecrets = r.Execution.Parallel, c.Bool("profile"), o.Operation.RunsPrograms()
	if r.Rest, err = parseRest(c); err != nil {
		return o, err
	}
	o.Selection = cmd.ParseSelection(c)
	if o.Secrets, err = parseSecrets(c, o.Common); err != nil {
		return o, err
	}
	o.View, o.ExitCode = parseView(c, d, o.Common), c.Bool("exit-code")
	r.Options = o.Options
	if words := r.Words(); r.Removal.Orphans && len(words) > 0 {
		return o, failure.Usagef(
			"destroy", "--orphans and %s: choose one; orphans are no projects of the plan", strings.Join(words, " "),
		)
	}
	o.Refusal = r.CheckConsent(d.Deps)
	if r.Guards, err = parseGuards(c, d); err != nil {
		return o, err
	}
	if r.Plan, err = parsePlan(c, d, r); err != nil {
		return o, err
	}
	if r.Plan.Hold != nil {
		o.Selection, o.Refusal = plan.Selection{Only: projectsOf(r.Plan.Hold)}, nil
	}
	r.Options = o.Options
	o.Request = r
	return o, nil
}

func parseSecrets(c *cli.Context, o cmd.Common) (vault.Given, error) {
	sources, err := vault.ParseSources(o.Known().Secrets(), c.Command.Name, "--secret", c.StringSlice("secret"))
	if err == nil && len(sources) > 0 && o.Simulation.On {
		err = failure.Usagef(c.Command.Name, "--secret: a simulation generates its secrets and stores none; omit the flag")
	}
	return vault.Given{Sources: sources, Generate: c.Bool("generate-secrets")}, err
}

// runOperation completes the configuration, runs an operation, and returns its exit code as an error.
func runOperation(ctx context.Context, d cmd.Deps, o options) (err error) {
	r := o.Request
	if r.Guards, err = r.LoadGuards(); err != nil {
		return err
	}
	if r.Options, err = complete(ctx, d, o.Common); err != nil {
		return err
	}
	summary, err := operate.Run(ctx, d.Deps, r, o.View)
	if err == nil && o.ExitCode && summary.Changes.Any() {
		err = cmd.Exit(cmd.ExitChanges)
	}
	return err
}

// parseOverrides parses values as the types of their keys. It refuses secrets:
// other users can see command lines.
func parseOverrides(c *cli.Context, r request.Request) ([]config.Change, error) {
	var changes []config.Change
	for _, text := range c.StringSlice("config") {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, failure.Usagef(c.Command.Name, "%s: %q is not KEY=VALUE", config.OverrideFlag, text)
		}
		if secret, ok := r.Known().Secret(name); ok {
			return nil, &failure.Usage{
				Text: fmt.Sprintf(
					"%s: %s is a secret (%s), which does not belong on the command line", config.OverrideFlag, name, secret.Doc,
				),
				Next: fmt.Sprintf("use --secret %s=env:NAME, or `runner secrets set %s`", name, name),
			}
		}
		if name == config.InfraType {
			return nil, failure.Usagef(c.Command.Name, "%s: the provider is named with -p", config.OverrideFlag)
		}
		parsed, err := configuration.ParseValue(r, name, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", config.OverrideFlag, err)
		}
		changes = append(changes, config.Change{Key: name, Value: parsed})
	}
	return changes, nil
}
