// Package rollout runs an operation on many environments, in the waves of
// config/rollout.yaml, and has each wave pass its gates. Begin with Run.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/operate"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/relay"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// Options say what a rollout does.
type Options struct {
	Request    operate.Request // asked of each environment
	View       relay.View
	Chosen     fleet.Selection
	Affected   Affected
	AtOnce     int  // environments
	Total      int  // projects in all of them
	OutOfOrder bool // earlier waves need not have succeeded
	SkipGates  []fleet.GateKind
	Command    string // below fleet: the operation, or one of the names below
	// Steps are the ups that an environment gets, one after the other; it gets one of the selection if it has none.
	Steps map[string][]Step
}

// Step is one of several ups of an environment.
type Step struct {
	Title string
	Only  []string     // projects
	Begin func() error // is called before the up
}

// The names of commands below fleet that are no operations.
const (
	ReapName    = "reap"    // destroys what is past its time
	UpgradeName = "upgrade" // ups in steps
)

// rollout is one rollout.
type rollout struct {
	operate.Request // asked of each environment
	o               Options
	d               session.Deps
	all             []fleet.Environment
	plan            fleet.Plan
	steps           plan.Plan // of the rollout: environments and the ends of waves
	resumed         string    // run that it resumes
	force           bool      // runs unchanged projects, too, because it or the resumed rollout was asked to
	run             *relay.Relay

	masker *event.Masker
	shared session.Shared
	stop   <-chan struct{}
	room   chan struct{}
	// resumes has the ids of the rollout that is resumed, and of the rollouts that it resumed.
	resumes []string
	ran     sync.Map // the runs of environments, by environment
	differs sync.Map // what a preview or a drift has found in environments, as text, by environment
	// expected is what earlier rollouts say about this one.
	expected ui.Options
}

// Run rolls out: it chooses the environments, orders them in waves, asks for confirmation, and has the executor walk
// them as it walks projects. It returns the summary, which is empty if nothing has begun. An error that the screen
// has shown is a failure.Reported.
func Run(ctx context.Context, d session.Deps, o Options) (summary event.Summary, err error) {
	masker := event.NewMasker(event.SecretsOf(o.Request.Sources.File.Merge(o.Request.Sources.Process))...)
	r := &rollout{
		Request: o.Request, force: o.Request.Force, o: o, d: d, room: make(chan struct{}, o.Total), masker: masker,
	}
	r.shared.Interrupt = d.Interrupt
	defer func() { err = errors.Join(err, r.shared.Close()) }()
	for _, step := range []func(context.Context) error{r.prepare, r.lookBeforeDestroy, r.approve, r.start} {
		if err := step(ctx); err != nil {
			return summary, err
		}
	}
	err = r.walk(ctx)
	r.run.Finish()
	r.printDifferences()
	if err != nil {
		err = &failure.Reported{Err: err}
	}
	return r.run.Summary, err
}

// printDifferences prints what a preview or a look for drift has found, once for all environments where it is the same.
func (r *rollout) printDifferences() {
	if r.o.View.JSON {
		return
	}
	texts := map[string]string{}
	r.differs.Range(func(stack, text any) bool {
		texts[stack.(string)] = text.(string)
		return true
	})
	fmt.Fprint(r.o.View.Stdout, r.o.View.Folded(texts))
}

// prepare chooses the environments and orders them.
func (r *rollout) prepare(ctx context.Context) (err error) {
	var waves fleet.Rollout
	if r.all, waves, err = r.Fleet(); err != nil {
		return err
	}
	chosen, err := fleet.Select(r.all, r.o.Chosen)
	if err != nil {
		return err
	}
	if chosen, err = r.o.Affected.limit(ctx, r.d, r.Options, chosen); err != nil {
		return err
	}
	r.d.Note(apart(r.Options.Request, chosen))
	if r.plan, err = fleet.NewPlan(chosen, waves, r.Operation.Deploys() || r.Operation.Destroys()); err != nil {
		return err
	}
	r.steps = r.plan.Plan
	if r.Operation.Destroys() {
		r.steps = r.steps.Reverse()
	}
	if r.Rest.Resume {
		if err := r.limitToRest(ctx); err != nil {
			return err
		}
	}
	if r.Operation.Deploys() && !r.o.OutOfOrder {
		return r.checkPromotion(ctx, waves)
	}
	return nil
}

// fleetRuns returns the name of operations on many environments in the journal.
func fleetRuns() journal.Environment {
	return journal.Environment{Provider: fleet.PlanName, Stack: fleet.PlanName}
}

// limitToRest skips what the last rollout has done. Environments that are not up to date any more, as their
// programs or values have changed since, are rolled out again, and the gates of their waves hold again.
func (r *rollout) limitToRest(ctx context.Context) error {
	rest, err := journal.Resume(
		r.Directory().Rollouts(), journal.Query{Environment: fleetRuns(), Operation: r.Operation, Changed: true},
	)
	if err != nil {
		return err
	}
	r.resumed, r.resumes = rest.Run.ID, rest.Chain
	r.force = r.Force || rest.Force && r.Operation.Deploys()
	if rest.NothingBegan {
		return nil
	}
	names := rest.Unfinished()
	if r.Operation.Deploys() {
		again, err := r.changedSince(ctx, rest.Succeeded)
		if err != nil {
			return err
		}
		names = append(names, again...)
	}
	r.steps = r.steps.Limit(rest.Projects, "not selected in "+rest.Run.ID).Limit(names, "done in "+rest.Run.ID)
	return nil
}

func (r *rollout) start(ctx context.Context) (err error) {
	id := journal.NewID(r.d.Now())
	owner := lock.Self("fleet", id, r.d.Now())
	layout.IgnoreInGit(r.Root)
	view := r.o.View
	if r.asks() {
		view.Facts.Asked = ui.PlainMode
	}
	keep := journal.Options{Dir: r.Directory().Rollouts(), ID: id, Meta: journal.Meta{
		Operation: r.Operation, Environment: fleetRuns(), Simulated: r.Simulation.On, Selection: r.words(),
		Resumes: r.resumed, Force: r.force, Message: r.Execution.Message, Commit: gitsource.CommitOf(ctx, r.Root),
		User: owner.User, Host: owner.Host, PID: owner.PID, Runner: r.d.Version,
	}}
	past := journal.Recent(r.Directory().Rollouts(), fleetRuns(), r.Operation)
	r.expected = ui.Options{Durations: past.Durations(nil), Resources: r.projects(), Next: r.next}
	r.run, err = relay.Begin(ctx, r.d, view, r.Root, keep, r.expected, r.masker)
	return err
}

func (r *rollout) words() []string {
	words := r.o.Chosen.Words()
	if r.o.Affected.Asked {
		words = append(words, "--affected")
	}
	if r.o.OutOfOrder {
		words = append(words, "--out-of-order")
	}
	for _, kind := range r.o.SkipGates {
		words = append(words, "--skip-gate "+string(kind))
	}
	return append(words, r.Words()...)
}

func (r *rollout) walk(ctx context.Context) error {
	stop, release := r.d.Interrupt.Gentle()
	defer release()
	r.stop = stop
	_, err := executor.Run(ctx, executor.Options{
		Plan: r.steps, Operation: r.Operation, Stack: fleet.PlanName, Simulated: r.Simulation.On, Parallel: r.o.AtOnce,
		Estimates: plan.Estimates{Known: r.expected.Durations}, OnError: r.Execution.OnError,
		Tolerate: r.plan.Tolerance(), Group: r.plan.Limit,
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
	r.run.Emit(e)
}

func (r *rollout) next(summary *event.Summary) []string {
	suffix := r.Simulation.Flag()
	switch {
	case summary.Outcome() == event.Succeeded:
	case r.o.Command == UpgradeName:
		again := "runner fleet upgrade " + strings.Join(r.o.Chosen.Words(), " ") + suffix
		return []string{again + "   # continues with the steps that are left"}
	default:
		return []string{"runner fleet " + r.o.Command + suffix + " --resume   # continues with what is left"}
	}
	return []string{"runner fleet status" + suffix}
}
