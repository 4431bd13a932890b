// Package operations has the commands that work on an environment: up, preview,
// refresh, drift and destroy; and unlock and repair, which clean up after runs
// that were cut off. The workflow is runOperate.
package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/configuration"
	"mara/runner/internal/environment/hooks"
	"mara/runner/internal/environment/identity"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/executor"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/secrets/vault"
)

// operateOptions are the options of up, preview, refresh, destroy and drift.
type operateOptions struct {
	cmd.Common
	policyOptions
	Selection selectionOptions
	Approve   rule
	ExitCode  bool     // changes have an exit code of their own
	Remove    bool     // of destroy: the stacks, too
	Forget    bool     // of destroy: drop what was in a cluster that is gone
	Deep      bool     // of drift: look inside Helm releases
	Force     bool     // of up: run unchanged projects, too
	Allow     []string // in a protected environment: what may be lost
	// LeaveBehind lets destroy leave load balancers and volumes of a cluster.
	LeaveBehind bool
	// Orphans has destroy work on the stacks that no project claims, and remove them.
	Orphans bool
	// NewBackend lets the environment go to another backend than before.
	NewBackend bool
	// missingOutput says what to do where a program reads an output that does not exist.
	missingOutput string
	contract      *outputContract // of the outputs; nil until the environment is open
	clear         bool            // of repair: drop interrupted creations from the state
	restore       bool            // of repair: restore broken states
	planOptions
	Show    showOptions
	carried carriedFlags // for the command after this one
	part    *part        // of an operation on many environments; nil for one alone
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
		}, policyFlags(), cmd.LockFlags(), cmd.OutputFlag("text", "json"), showFlags(),
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
		Action: cmd.Action(d, func(c *cli.Context, d cmd.Deps, common cmd.Common) (operateOptions, error) {
			return parseOperate(c, d, common, op)
		}, runOperate),
	}
}

func parseOperate(c *cli.Context, d cmd.Deps, common cmd.Common, op operation.Operation) (o operateOptions, err error) {
	o.Common, o.Operation, o.carried = common, op, parseCarried(c)
	o.ChangeProvider = true // open checks that nothing is deployed
	if o.Simulation.Cluster = c.String("simulate-cluster"); o.Simulation.Cluster != "" && !o.Simulation.On {
		return o, failure.Usagef(
			c.Command.Name, "--simulate-cluster needs --simulate: it asks a cluster about what is simulated",
		)
	}
	if c.Bool("preview-only") {
		o.Operation = operation.Drift
	}
	if o.Overrides, err = parseOverrides(c, o.Request); err != nil {
		return o, err
	}
	if o.LockTimeout, err = cmd.ParseLock(c); err != nil {
		return o, err
	}
	if o.policyOptions, err = parsePolicy(c); err != nil {
		return o, err
	}
	o.AtOnce, o.Profile = o.Parallel, c.Bool("profile")
	if o.Selection, err = parseProjects(c); err != nil {
		return o, err
	}
	if o.Secrets, err = parseSecrets(c, o); err != nil {
		return o, err
	}
	o.Options.Selection, o.NeedSecrets = o.Selection.Selection, o.Operation.RunsPrograms()
	o.Show, o.Approve, o.ExitCode = parseShow(c), rule(cmd.Chosen(c, "auto-approve-if")), c.Bool("exit-code")
	o.missingOutput = cmd.Chosen(c, missingOutputFlag)
	o.Remove, o.Forget, o.Deep = c.Bool("remove-stacks"), c.Bool("force-forget"), c.Bool("deep")
	o.LeaveBehind, o.Orphans = c.Bool("leave-behind"), c.Bool("orphans")
	if err := o.checkOrphans(); err != nil {
		return o, err
	}
	o.Force, o.Allow, o.NewBackend = c.Bool("force"), c.StringSlice("allow"), c.Bool(newBackendName)
	o.Refusal = o.checkConsent(d)
	if o.Selection.ofLastRun() {
		o.Narrow = o.selectRest
	}
	return o, o.parsePlan(c, d)
}

func parseSecrets(c *cli.Context, o operateOptions) (vault.Given, error) {
	sources, err := vault.ParseSources(o.Known().Secrets(), c.Command.Name, "--secret", c.StringSlice("secret"))
	if err == nil && len(sources) > 0 && o.Simulation.On {
		err = failure.Usagef(c.Command.Name, "--secret: a simulation generates its secrets and stores none; omit the flag")
	}
	return vault.Given{Sources: sources, Generate: c.Bool("generate-secrets")}, err
}

// runOperate runs an operation: it completes the configuration, opens the environment, chooses the projects, looks for
// leftovers of earlier runs, asks for confirmation, and runs the plan.
func runOperate(ctx context.Context, d cmd.Deps, o operateOptions) (err error) {
	if err = loadGates(&o); err != nil {
		return err
	}
	if o.Common, err = complete(ctx, d, o); err != nil {
		return err
	}
	s, err := open(ctx, d, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := o.checkProtection(d, s); err != nil {
		return err
	}
	warnOfOrphans(ctx, s, o)
	w, err := chooseWork(ctx, s, o)
	if err != nil {
		return err
	}
	o = o.ofPlan(s)
	o.Force = o.Force || w.force
	if err := o.checkPlan(ctx, d, s); err != nil {
		return err
	}
	if o.contract, err = o.checkOutputs(ctx, s, w); err != nil {
		return err
	}
	wasKilled := s.Held.TakenOver || journal.WasCutOff(s.Directory.Runs(), s.Environment())
	found, err := session.FindLeftovers(ctx, s, w.plan, o.Selection.Resume, wasKilled)
	if err != nil {
		return err
	}
	s.Warnings = append(s.Warnings, found.Warnings...)
	if w.preview, err = approve(ctx, d, o, s, w); err != nil {
		reportRefused(d, o, w.preview, err)
		return err
	}
	if err := s.Leftovers().Clear(ctx, found); err != nil {
		return err
	}
	if err := settleIdentified(ctx, d, s, found.Identified); err != nil {
		return err
	}
	if o.Operation.Deploys() { // the provider is known before anything is deployed with it
		if err := rememberProvider(d, s); err != nil {
			return err
		}
	}
	return carryOut(ctx, d, o, s, w)
}

// rememberProvider records provider and backend, and corrects a stack file that names another provider.
func rememberProvider(d cmd.Deps, s *session.Session) error {
	changed, err := identity.KeepProvider(s, configuration.Write)
	if err != nil {
		return err
	}
	if changed != "" {
		fmt.Fprintln(d.Stderr, changed)
	}
	if err := identity.RecordBackend(s); err != nil {
		return err
	}
	return request.RememberProvider(s.Directory, s.Settings.Stack.Text, s.Provider.Name)
}

// carryOut runs the plan, reports the result and checks it.
func carryOut(ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work) error {
	recording, err := beginRecording(ctx, d, o, s, w)
	if err != nil {
		return err
	}
	run, err := startRun(ctx, d, o, s, w)
	if err != nil {
		return errors.Join(err, recording.abandon(ctx))
	}
	known := newUnchanged(s, o)
	known.resume(w)
	err = walk(ctx, d, o, s, w, checks{known, newSecondLook(d, o, s, w, run.screen)}, run.emit)
	if err != nil {
		// A worker that was killed cannot unlock its stack.
		err = errors.Join(err, s.Leftovers().RemoveDeadLocks(ctx, w.plan))
	}
	run.outputs = maskedOutputs(s)
	run.finish(d, o)
	warn(d, "the fingerprints cannot be stored, so that the next up runs all projects: ", known.keep(run))
	warn(d, "the next up may skip projects that have drifted; use up --force: ", invalidateDrifted(o, s, &run.summary))
	left := checkNothingLeft(ctx, o.Operation, s, w.plan, err)
	if left == nil {
		isWhole := !o.Orphans && len(w.plan.Steps) == len(s.Plan.Steps)
		warn(d, "the result of this run is not recorded: ", recording.end(ctx, run, known, w, isWhole))
	}
	if err == nil && left == nil && o.Operation.Destroys() {
		warn(d, "the backend of the destroyed environment stays recorded: ", identity.DropBackend(s))
	}
	defer s.Profile.Write(d.Stderr, &run.summary)
	if err != nil {
		reportUnsaved(d, o)
		return errors.Join(&cmd.Reported{Code: cmd.ExitCode(err)}, forbidden(err))
	}
	if err := printPlan(d, o); err != nil {
		return err
	}
	printCosts(d, o)
	printHighlights(d, o, s, run.outputs)
	if left != nil {
		return left
	}
	if o.ExitCode && run.summary.Changes.Any() {
		return &cmd.Reported{Code: cmd.ExitChanges}
	}
	return nil
}

// checkNothingLeft asks the backend, after a successful destroy, whether resources are left.
func checkNothingLeft(
	ctx context.Context, op operation.Operation, s *session.Session, p plan.Plan, failed error,
) error {
	if failed != nil || !op.Destroys() || len(p.Steps) == 0 {
		return nil
	}
	if err := s.Stacks.List(ctx); err != nil {
		return err
	}
	var left []string
	for _, name := range p.Names() {
		if n := s.Stacks.Summary(name).Resources; n > 0 {
			left = append(left, fmt.Sprintf("%s (%s)", name, typeset.Counted(n, "resource")))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("resources are left after the destroy: %s", strings.Join(left, ", "))
	}
	return nil
}

// checks are what is checked before each project of a run; nil checks nothing.
type checks struct {
	known *unchanged
	again *secondLook
}

func walk(
	ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work, before checks, emit func(event.Event),
) error {
	stop, release := d.Interrupt.Gentle()
	defer release()
	work := newOperator(s, o, before)
	if o.part != nil {
		stop = o.part.stop
	}
	_, err := executor.Run(ctx, executor.Options{
		Plan:      w.plan,
		Operation: o.Operation,
		Stack:     s.Settings.Stack.Text,
		Simulated: o.Simulation.On,
		Parallel:  o.Parallel,
		Estimates: plan.Estimates{Known: durations(s, o.Operation)}.Or(s.Plan.Declared()),
		OnError:   o.OnError,
		Retry:     o.retry(o.Simulation, o.LockTimeout),
		Timeout:   w.limit,
		Timeouts:  w.limits,
		Operator:  work,
		Hook:      s.Hooks().Hook(o.Operation),
		Conclude:  o.judge(ctx, d, s, w, emit),
		RunHooks:  s.Provider.Hooks,
		Emit:      emit,
		Stop:      stop,
	})
	return err
}

// task returns the part of a task that all steps share.
func (o operateOptions) task() stacks.Task {
	return stacks.Task{
		Operation: o.Operation, ParallelResources: o.Resources,
		Remove: o.Remove || o.Orphans, Forget: o.Forget, Clear: o.clear,
		Record: o.Operation == operation.Preview, PolicyPacks: o.packs,
	}
}

// operator does a step's work on its stack.
type operator struct {
	stacks  *stacks.Set
	task    stacks.Task // for every step
	plan    planGuard   // the plan that an up must follow
	again   *secondLook // judges partial previews; nil if nothing depends on them
	before  hooks.BeforeFunc
	failed  func(ctx context.Context, step plan.Step, failure error, emit func(event.Event))
	inside  hooks.InsideFunc // nil without --deep
	known   *unchanged       // nil if nothing is known
	outputs *outputContract
	part    *part
}

func newOperator(s *session.Session, o operateOptions, check checks) operator {
	around := s.Hooks()
	around.LeaveBehind = o.LeaveBehind
	work := operator{
		stacks: s.Stacks, task: o.task(), plan: newPlanGuard(o, s),
		before: around.Before(o.Operation, o.Forget), failed: around.Failed,
		known: check.known, again: check.again, part: o.part, outputs: o.contract,
	}
	if o.Deep {
		work.inside = s.Hooks().Inside()
	}
	return work
}

// Operate implements executor.Operator.
func (o operator) Operate(ctx context.Context, step plan.Step, emit func(event.Event)) (executor.Outcome, error) {
	run, err := o.known.lastUnchangedRun(ctx, step, emit)
	if err != nil {
		return executor.Outcome{}, err
	}
	if run != "" {
		return executor.Outcome{Skipped: "unchanged since " + run, Unchanged: run}, nil
	}
	leave, err := o.part.enter(ctx)
	if err != nil {
		return executor.Outcome{}, err
	}
	defer leave()
	if err := o.before(ctx, step, emit); err != nil {
		return executor.Outcome{}, err
	}
	task := o.task
	task.Step, task.Secrets = step, o.known.changedSecrets(ctx, step.Project.Name)
	if err := o.outputs.before(ctx, step.Project.Name, emit); err != nil {
		return executor.Outcome{}, err
	}
	if err := o.hold(ctx, task, emit); err != nil {
		return executor.Outcome{}, err
	}
	outcome, err := o.stacks.Operate(ctx, task, emit)
	if err == nil && o.inside != nil && outcome.Skipped == "" {
		var found event.Changes
		found, err = o.inside(ctx, step.Project.Name, emit)
		outcome.Changes = outcome.Changes.Plus(found)
	}
	if err != nil {
		err = o.outputs.explain(ctx, step.Project, err)
		o.failed(ctx, step, err, emit)
	} else {
		o.outputs.after(step, task.Operation, outcome.Outputs, emit)
		o.known.done(ctx, step, outcome)
	}
	return executor.Outcome{Changes: outcome.Changes, Skipped: outcome.Skipped, Unknown: outcome.Unknown}, err
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
