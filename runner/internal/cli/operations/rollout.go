package operations

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/fleet"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/process"
	"mara/runner/internal/output/ui"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/executor"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/state/lock"
)

type rolloutOptions struct {
	operateOptions
	Chosen     fleet.Selection
	Affected   affected
	AtOnce     int  // environments
	Total      int  // projects in all of them
	OutOfOrder bool // earlier waves need not have succeeded
	SkipGates  []fleet.GateKind
	Reaps      bool // fleet reap, which destroys what is past its time
}

// command returns the name of the command below fleet.
func (o rolloutOptions) command() string {
	if o.Reaps {
		return reapName
	}
	return string(o.Operation)
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
			codes:       []int{cmd.ExitChanges},
		}, "-l stage=prod", "--affected"),
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
			flags:       []string{"exit-code"}, codes: []int{cmd.ExitChanges},
		}, "-l region=eu"),
		rolloutCommand(d, operation.Drift, spec{
			use:         "show where many environments differ from their states",
			description: "Environments are compared side by side; nothing changes.",
			flags:       []string{"exit-code", "deep"}, codes: []int{cmd.ExitChanges},
		}, "--all --exit-code"),
		rolloutCommand(d, operation.Destroy, spec{
			use: "destroy many environments, the waves backwards",
			description: "The last wave goes first. It asks for the number of environments; without a terminal it needs\n" +
				"--yes. A protected environment is destroyed only if --allow names it. Nothing is deleted if one of\n" +
				"the environments is protected, has protected resources, or cannot be read.",
			flags: []string{"allow", "remove-stacks", "force-forget", "leave-behind"},
		}, "'review-*' --yes"),
		FleetReap(d),
	}
}

func rolloutCommand(d cmd.Deps, op operation.Operation, own spec, examples ...string) *cli.Command {
	codes := append([]int{
		cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked, cmd.ExitInterrupted,
	}, own.codes...)
	slices.Sort(codes)
	text := own.description + " Choose environments by name or\npattern, by labels, or with --all.\n\n" +
		"The other flags are those of `runner " + string(
		op,
	) + "`, and mean in each environment what they mean there.\n\nExamples:\n"
	for _, example := range examples {
		text += "  runner fleet " + string(op) + " " + example + "\n"
	}
	chooses := func(f cli.Flag) bool {
		return slices.Contains([]string{"stack", "provider", "failed", "resume-changed"}, f.Names()[0])
	}
	flags := slices.DeleteFunc(operateFlags(own.flags), chooses)
	return &cli.Command{
		Name: string(op), Usage: own.use, ArgsUsage: cmd.FleetArguments,
		Description: text + "\n" + cmd.ExitText(codes...),
		Flags:       cmd.JoinFlags(cmd.FleetFlags(), rolloutFlags(), flags),
		Action:      rolloutAction(d, op, runRollout),
	}
}

func rolloutAction(
	d cmd.Deps, op operation.Operation, run func(context.Context, cmd.Deps, rolloutOptions) error,
) cli.ActionFunc {
	return cmd.Action(d, func(c *cli.Context, d cmd.Deps, common cmd.Common) (rolloutOptions, error) {
		return parseRollout(c, d, common, op)
	}, run)
}

func parseRollout(c *cli.Context, d cmd.Deps, common cmd.Common, op operation.Operation) (rolloutOptions, error) {
	one, err := parseOperate(c, d, common, op)
	o := rolloutOptions{
		operateOptions: one, Affected: parseAffected(c), AtOnce: c.Int("environments"), Total: c.Int("total"),
		OutOfOrder: c.Bool("out-of-order"), Reaps: c.Command.Name == reapName,
	}
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
	case o.Chosen.IsEmpty() && !o.Affected.Asked && !o.Selection.Resume && !o.Reaps:
		return o, failure.Usagef(cmd.Path(c), "which environments? name them, or use -l SELECTOR or --all")
	case o.AtOnce < 1 || o.Total < 1:
		return o, failure.Usagef(cmd.Path(c), "--environments and --total: must be numbers above 0")
	}
	return o, nil
}

type rollout struct {
	o    rolloutOptions
	d    cmd.Deps
	all  []fleet.Environment
	plan fleet.Plan
	run  *run

	masker *event.Masker
	shared session.Shared
	stop   <-chan struct{}
	room   chan struct{}
	// resumes has the ids of the rollout that is resumed, and of the rollouts that it resumed.
	resumes []string
	ran     sync.Map // the runs of environments, by environment
}

// runRollout rolls out: it chooses the environments, orders them in waves, asks for confirmation, and has the executor
// walk them as it walks projects.
func runRollout(ctx context.Context, d cmd.Deps, o rolloutOptions) (err error) {
	masker := event.NewMasker(session.SecretsOf(o.Sources.File.Merge(o.Sources.Process))...)
	r := &rollout{o: o, d: d, room: make(chan struct{}, o.Total), masker: masker}
	r.shared.Interrupt = d.Interrupt
	defer func() { err = errors.Join(err, r.shared.Close()) }()
	work, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	if err := r.lookBeforeDestroy(ctx, work); err != nil {
		return err
	}
	if err := r.approve(ctx, work); err != nil {
		return err
	}
	if err := r.start(ctx, work); err != nil {
		return err
	}
	err = r.walk(ctx, work)
	r.run.finish(d, o.operateOptions)
	if err != nil {
		return &cmd.Reported{Code: cmd.ExitCode(err)}
	}
	if o.ExitCode && r.run.summary.Changes.Any() {
		return &cmd.Reported{Code: cmd.ExitChanges}
	}
	return nil
}

// prepare chooses the environments and orders them.
func (r *rollout) prepare(ctx context.Context) (w work, err error) {
	var waves fleet.Rollout
	if r.all, waves, err = r.o.Fleet(); err != nil {
		return w, err
	}
	chosen, err := fleet.Select(r.all, r.o.Chosen)
	if err != nil {
		return w, err
	}
	if chosen, err = r.o.Affected.limit(ctx, r.d, r.o.Options, chosen); err != nil {
		return w, err
	}
	if r.plan, err = fleet.NewPlan(chosen, waves, r.o.Operation.Deploys() || r.o.Operation.Destroys()); err != nil {
		return w, err
	}
	w.plan = r.plan.Plan
	if r.o.Operation.Destroys() {
		w.plan = w.plan.Reverse()
	}
	if r.o.Selection.Resume {
		if err := r.limitToRest(ctx, &w); err != nil {
			return w, err
		}
	}
	if r.o.Operation.Deploys() && !r.o.OutOfOrder {
		return w, r.checkPromotion(ctx, waves, w.plan)
	}
	return w, nil
}

// fleetRuns returns the name of operations on many environments in the journal.
func fleetRuns() journal.Environment {
	return journal.Environment{Provider: fleet.PlanName, Stack: fleet.PlanName}
}

// limitToRest skips what the last rollout has done. Environments that are not up to date any more, as their
// programs or values have changed since, are rolled out again, and the gates of their waves hold again.
func (r *rollout) limitToRest(ctx context.Context, w *work) error {
	rest, err := journal.Resume(
		r.o.Directory().Rollouts(), journal.Query{Environment: fleetRuns(), Operation: r.o.Operation, Changed: true},
	)
	if err != nil {
		return err
	}
	w.resumes, r.resumes = rest.Run.ID, rest.Chain
	r.o.Force = r.o.Force || rest.Force && r.o.Operation.Deploys()
	names := rest.Unfinished()
	if r.o.Operation.Deploys() {
		again, err := r.changedSince(ctx, rest.Succeeded)
		if err != nil {
			return err
		}
		names = append(names, again...)
	}
	w.plan = w.plan.Limit(rest.Projects, "not selected in "+rest.Run.ID).Limit(names, "done in "+rest.Run.ID)
	return nil
}

func (r *rollout) start(ctx context.Context, w work) (err error) {
	directory, id := r.o.Directory(), journal.NewID(r.d.Now())
	owner := lock.Self("fleet", id, r.d.Now())

	layout.IgnoreInGit(r.o.Root)
	o := r.o.operateOptions
	if r.asks(w.plan) {
		o.Show.UI = ui.PlainMode
	}
	r.run, err = beginRun(ctx, r.d, o, journal.Options{Dir: directory.Rollouts(), ID: id, Meta: journal.Meta{
		Operation: r.o.Operation, Environment: fleetRuns(), Simulated: r.o.Simulation.On, Selection: r.o.words(),
		Resumes: w.resumes,
		Force:   r.o.Force, Commit: commitOf(ctx, r.o.Root), User: owner.User, Host: owner.Host, PID: owner.PID,
		Runner: r.d.Version,
	}}, ui.Options{Durations: r.durations(), Resources: r.projects(), Next: r.next}, r.masker)
	return err
}

func (o rolloutOptions) words() []string {
	words := o.Chosen.Words()
	if o.Affected.Asked {
		words = append(words, "--affected")
	}
	return append(words, o.Selection.words()...)
}

func (r *rollout) walk(ctx context.Context, w work) error {
	stop, release := r.d.Interrupt.Gentle()
	defer release()
	r.stop = stop
	tolerance := r.plan.NewTolerance()
	_, err := executor.Run(ctx, executor.Options{
		Plan: w.plan, Operation: r.o.Operation, Stack: fleet.PlanName, Simulated: r.o.Simulation.On, Parallel: r.o.AtOnce,
		Estimates: plan.Estimates{Known: r.durations()}, OnError: r.o.OnError,
		Tolerate: tolerance.Allows, Group: r.plan.Limit,
		Operator: r, Emit: r.emit, Stop: stop,
	})
	return err
}

// emit adds what only the rollout knows to the executor's events.
func (r *rollout) emit(e event.Event) {
	switch e.Type {
	case event.RunStarted:
		e.Fleet = true
	case event.StepFinished:
		if id, ok := r.ran.Load(e.Project); ok {
			e.Ran = id.(string)
		}
	}
	r.run.emit(e)
}

func (r *rollout) next(summary *event.Summary) []string {
	suffix := r.o.Simulation.Flag()
	if summary.Outcome() != event.Succeeded {
		return []string{"runner fleet " + r.o.command() + suffix + " --resume   # continues with what is left"}
	}
	return []string{"runner fleet status" + suffix}
}

// discard returns deps without a screen for one environment: the rollout shows its events, and passes each line of
// stderr to show.
func discard(d cmd.Deps, show func(line string)) cmd.Deps {
	d.Stdout, d.StdoutIsTerminal, d.Size = io.Discard, false, nil
	lines := &process.Lines{Emit: func(line string) { show(strings.TrimSpace(line)) }}
	d.Stderr, d.StderrIsTerminal, d.StdinIsTerminal = lines, false, false
	d.Interrupt = nil // the rollout says when to stop
	return d
}
