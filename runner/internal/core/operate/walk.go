package operate

import (
	"context"
	"slices"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/hooks"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/core/unchanged"
)

// checks are what is checked before each project of a run; nil checks nothing.
type checks struct {
	known *unchanged.Projects
	again *secondLook
}

// walk runs the plan, and returns what a preview has found.
func (j *job) walk(
	ctx context.Context, op operation.Operation, expected ui.Options, before checks, emit func(event.Event),
) (found assessment, err error) {
	stop, release := j.d.Interrupt.Gentle()
	defer release()
	if j.Rollout != nil {
		stop = j.Rollout.Stop
	}
	var conclude func() error
	if op == operation.Preview {
		conclude = func() error { return judge{j}.assess(ctx, &found, emit) }
	}
	work := j.newOperator(op, before)
	defer work.ahead.close()
	_, err = executor.Run(ctx, executor.Options{
		Plan:      j.w.plan,
		Operation: op,
		Stack:     j.s.Settings.Stack.Text,
		Simulated: j.Simulation.On,
		Parallel:  j.Execution.Parallel,
		Estimates: plan.Estimates{Known: expected.Durations}.Or(j.s.Plan.Declared()),
		OnError:   j.Execution.OnError,
		Retry:     j.Execution.retry(j.Simulation, j.LockTimeout),
		Retries:   j.retries(),
		Timeout:   j.w.limit,
		Timeouts:  j.w.limits,
		Operator:  work,
		Hook:      j.s.Hooks().Hook(op),
		Conclude:  conclude,
		RunHooks:  j.s.Provider.Hooks,
		Emit:      emit,
		Stop:      stop,
	})
	return found, err
}

// operator does a step's work on its stack.
type operator struct {
	*job
	checks
	task    stacks.Task // for every step
	cloud   cloudWatch
	hooks   hooks.Hooks
	prepare hooks.BeforeFunc
	inside  hooks.InsideFunc    // nil without --deep
	reasons *unchanged.Projects // of a preview: why projects run; nil for other operations
	imports *imports            // of a preview; nil for other operations
	ahead   *aheadPrograms      // nil if none may start before its turn
}

func (j *job) newOperator(op operation.Operation, before checks) operator {
	around := j.s.Hooks()
	around.LeaveBehind = j.Removal.LeaveBehind
	work := operator{
		job: j, checks: before, cloud: newCloudWatch(j.s.Resolved), hooks: around, prepare: around.Before(op, j.Removal.Forget),
		task: stacks.Task{
			Operation: op, ParallelResources: j.Execution.Resources, Remove: j.Removal.Stacks || j.Removal.Orphans,
			Forget: j.Removal.Forget, Clear: j.Repair, Record: op == operation.Preview, PolicyPacks: j.Guards.Packs,
			Message: j.Execution.Message, Targets: j.Targets,
		},
	}
	if op == operation.Preview {
		work.reasons = unchanged.New(j.s, false)
		work.imports = &imports{s: j.s.Resolved, known: map[string]imported{}}
	}
	work.ahead = j.newAhead(work)
	if j.Deep {
		work.inside = around.Inside()
	}
	return work
}

// Operate implements executor.Operator.
func (o operator) Operate(ctx context.Context, step plan.Step, emit func(event.Event)) (executor.Outcome, error) {
	defer o.ahead.drop(step.Project.Name)
	run, err := o.known.LastRun(ctx, step, emit)
	if err != nil {
		return executor.Outcome{}, err
	}
	if run != "" {
		return executor.Outcome{Skipped: "unchanged since " + run, Unchanged: run}, nil
	}
	look := o.reasons.Explain(ctx, step, emit)
	o.imports.say(ctx, step, emit)
	if o.Request.Operation.Deploys() && o.task.Operation == operation.Preview {
		o.looked.add(step.Project.Name, look) // before the program runs: a change during the preview counts as one after it
	}
	if o.Rollout != nil {
		leave, err := o.Rollout.Enter(ctx)
		if err != nil {
			return executor.Outcome{}, err
		}
		defer leave()
	}
	if err := o.prepare(ctx, step, emit); err != nil {
		return executor.Outcome{}, err
	}
	task := o.task
	task.Step, task.Secrets = step, o.known.ChangedSecrets(ctx, step.Project.Name)
	task.Fresh = o.Execution.Refresh || task.Operation == operation.Preview && slices.ContainsFunc(o.watches, func(watch guard.Watch) bool {
		return watch.Fresh(step.Project.Name)
	})
	if err := o.contract.before(ctx, step.Project.Name, emit); err != nil {
		return executor.Outcome{}, err
	}
	if err := o.hold(ctx, task, emit); err != nil {
		return executor.Outcome{}, err
	}
	for _, watch := range o.watches {
		if err := watch.Before(ctx, task, emit); err != nil {
			return executor.Outcome{}, err
		}
	}
	watched, end := o.cloud.follow(ctx, step.Project.Name, emit)
	task.Ahead = o.ahead.take(step)
	outcome, err := o.s.Stacks.Operate(ctx, task, watched)
	end()
	if err == nil && o.inside != nil && outcome.Skipped == "" {
		var found event.Changes
		found, err = o.inside(ctx, step.Project.Name, emit)
		outcome.Changes = outcome.Changes.Plus(found)
	}
	if err != nil {
		err = o.contract.explain(ctx, step.Project, err)
		o.hooks.Failed(ctx, step, err, emit)
	} else {
		o.contract.after(step, task.Operation, outcome.Outputs, emit)
		if len(o.Targets.Only) == 0 { // the rest of its program has not run
			o.known.Done(ctx, step, outcome)
		}
	}
	return executor.Outcome{Changes: outcome.Changes, Skipped: outcome.Skipped, Unknown: outcome.Unknown,
		Link: outcome.Link}, err
}
