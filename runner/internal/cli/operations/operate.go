// Package operations has the commands that work on an environment: up, preview,
// refresh, drift and destroy, for one and for many environments; and unlock and repair,
// which clean up after runs that were cut off. The work itself is in workflow.
package operations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/configuration"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/operate"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/relay"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/feature/doctor/check"
	"mara/runner/internal/feature/firstrun"
	"mara/runner/internal/machine/failure"
)

// Options are those of up, preview, refresh, drift and destroy.
type Options struct {
	operate.Request
	Invocation cmd.Invocation
	View       relay.View
	ExitCode   ChangesExit
}

// NewBackendName names the flag that lets an environment go to another backend.
const NewBackendName = "new-backend"

// OperateFlags returns the flags of all operations, after some that only few have.
func OperateFlags(own []string) []cli.Flag {
	return cmd.JoinFlags(
		FlagsOf(own...), cmd.SelectionFlags(), []cli.Flag{
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
			&cli.BoolFlag{
				Name:  NewBackendName,
				Usage: "work in the configured backend, although the environment was deployed to another; see runner state move",
			},
		}, ExecutionFlags(), cmd.LockFlags(), cmd.OutputFlag("text", "json"), ShowFlags(),
		[]cli.Flag{&cli.BoolFlag{Name: "profile", Usage: "print to stderr where the time went"}},
		cmd.EnvironmentFlags(), cmd.ConfirmFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
	)
}

type Spec struct {
	Use, Description string
	Aliases          []string
	Flags            []string // besides those of all operations
}

// ExitText lists the exit codes.
func (s Spec) ExitText() string {
	codes := []int{cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked}
	if slices.Contains(s.Flags, "exit-code") {
		codes = append(codes, cmd.ExitChanges)
	}
	return cmd.ExitText(append(codes, cmd.ExitInterrupted)...)
}

func operationCommand(d cmd.Deps, op operation.Operation, own Spec) *cli.Command {
	return &cli.Command{
		Name:        string(op),
		Aliases:     own.Aliases,
		Usage:       own.Use,
		Description: own.Description + "\n\n" + own.ExitText(),
		Flags:       OperateFlags(own.Flags),
		Action: cmd.Action(d, func(c *cli.Context, d cmd.Deps, common cmd.Common) (Options, error) {
			return ParseOperate(c, d, common, op)
		}, RunOperation),
	}
}

func ParseOperate(c *cli.Context, d cmd.Deps, common cmd.Common, op operation.Operation) (o Options, err error) {
	r := operate.Request{
		Options: common.Options, Yes: common.Yes, Approve: operate.Rule(cmd.Chosen(c, "auto-approve-if")),
		Allow: c.StringSlice("allow"), Force: c.Bool("force"), Deep: c.Bool("deep"), NewBackend: c.Bool(NewBackendName),
		New: c.Bool("new"), Strict: c.Bool("exit-code"),
		WarnMissing: cmd.Chosen(c, operate.MissingOutputFlag) == operate.MissingOutputWarn, Carried: parseCarried(c),
		Removal: operate.Removal{
			Stacks: c.Bool("remove-stacks"), Forget: c.Bool("force-forget"), LeaveBehind: c.Bool("leave-behind"),
			Orphans: c.Bool("orphans"),
		},
	}
	o = Options{Invocation: common.Invocation, View: ParseView(c, d, common), ExitCode: ChangesExit(c.Bool("exit-code"))}
	if r.Operation = op; c.Bool("preview-only") {
		r.Operation = operation.Drift
	}
	r.ChangeProvider = true // open checks that nothing is deployed
	if r.Simulation.Cluster = c.String("simulate-cluster"); r.Simulation.Cluster != "" && !r.Simulation.On {
		return o, failure.Usagef(
			c.Command.Name, "--simulate-cluster needs --simulate: it asks a cluster about what is simulated",
		)
	}
	if r.Overrides, err = parseOverrides(c, common.Request); err != nil {
		return o, err
	}
	if r.LockTimeout, err = cmd.ParseLock(c); err != nil {
		return o, err
	}
	if r.Execution, err = parseExecution(c); err != nil {
		return o, err
	}
	r.NoJournal, r.NoValues = c.Bool("no-journal"), c.Bool("no-values")
	r.AtOnce, r.Profile, r.NeedSecrets = r.Execution.Parallel, c.Bool("profile"), r.Operation.RunsPrograms()
	if r.Rest, err = parseRest(c); err != nil {
		return o, err
	}
	r.Selection = cmd.ParseSelection(c)
	if r.Targets, err = parseTargets(c, r); err != nil {
		return o, err
	}
	if r.Secrets, err = parseSecrets(c, common); err != nil {
		return o, err
	}
	if r.Removal.Orphans { // those that are there are what is left of a run over orphans
		r.Rest.Resume, r.Rest.Changed = false, false
	}
	if words := r.Words(); r.Removal.Orphans && len(words) > 0 {
		return o, failure.Usagef(
			"destroy", "--orphans and %s: choose one; orphans are no projects of the plan", strings.Join(words, " "),
		)
	}
	r.Refusal = r.CheckConsent(d.Deps)
	if r.Guards, err = parseGuards(c, d); err != nil {
		return o, err
	}
	if r.Plan, err = parsePlan(c, d, r); err != nil {
		return o, err
	}
	if r.Plan.Hold != nil {
		names := lists.Map(r.Plan.Hold.Projects, func(p updateplan.Project) string { return p.Name })
		r.Selection, r.Refusal = plan.Selection{Only: names}, nil
	}
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

// RunOperation completes the configuration, runs an operation, and returns its exit code as an error.
func RunOperation(ctx context.Context, d cmd.Deps, o Options) (err error) {
	r := o.Request
	if r.Guards, err = LoadGuards(ctx, d, r); err != nil {
		return err
	}
	if r, err = r.AgreeNew(ctx, d.Deps); err != nil {
		return err
	}
	if r.Options, err = firstrun.Complete(ctx, d, cmd.Common{Options: r.Options, Invocation: o.Invocation}); err != nil {
		return err
	}
	return o.ExitCode.Exit(operate.Run(ctx, d.Deps, r, o.View))
}

// LoadGuards checks the files that all environments share, and returns the guards of a request. It prints what does not
// stop the operation.
func LoadGuards(ctx context.Context, d cmd.Deps, r operate.Request) (operate.Guards, error) {
	guards, err := r.LoadGuards(d.Guards)
	if r.Root == "" || !r.Operation.RunsPrograms() {
		return guards, err
	}
	var problems []config.Problem
	for _, f := range check.WithoutGuards(ctx, d.Deps, r.Options) {
		switch {
		case f.Doubt || f.Kind == check.Queries:
			fmt.Fprintf(d.Stderr, "warning: %s\n", f.Problem)
		case f.Kind == check.Variables:
			problems = append(problems, f.Problem)
		}
	}
	if len(problems) > 0 {
		err = config.Join(&config.Error{Problems: problems}, err)
	}
	return guards, err
}

// ChangesExit says whether changes have an exit code of their own.
type ChangesExit bool

// exit returns the error that a run ends its command with.
func (e ChangesExit) Exit(summary event.Summary, err error) error {
	if err == nil && bool(e) && summary.Changes.Any() {
		return cmd.Exit(cmd.ExitChanges)
	}
	return err
}

// parseOverrides parses values as the types of their keys. It refuses secrets:
// other users can see command lines.
// weakens reports whether a value for one run would take away a guard: protection, or the lifetime after which
// `runner fleet reap` destroys an environment.
func weakens(key, value string) bool {
	return key == config.ProtectKey && value != "true" || key == config.TTLKey
}

func parseOverrides(c *cli.Context, r request.Request) ([]config.Change, error) {
	var changes []config.Change
	for _, text := range c.StringSlice("config") {
		name, value, err := cmd.KeyValue(c.Command.Name, config.OverrideFlag, text)
		if err != nil {
			return nil, err
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
		if weakens(name, value) {
			return nil, &failure.Usage{
				Text: fmt.Sprintf("%s (RUNNER_CONFIG): %s guards the environment, and is not changed for one run",
					config.OverrideFlag, name),
				Next: "name what may be lost with --allow, or change " + name + " in the stack file with `runner config set`",
			}
		}
		parsed, err := configuration.ParseValue(r, name, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", config.OverrideFlag, err)
		}
		changes = append(changes, config.Change{Key: name, Value: parsed})
	}
	return changes, nil
}
