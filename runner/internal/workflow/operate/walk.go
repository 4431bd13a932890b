package operate

import (
	"context"

	"mara/projects/model/operation"
	"mara/runner/internal/environment/hooks"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/executor"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/workflow/unchanged"
)

// checks are what is checked before each project of a run; nil checks nothing.
type checks struct {
	known *unchanged.Projects
	again *secondLook
}

// walk runs the plan, and returns what a preview has found.
func (j *job) walk(
	ctx context.Context, op operation.Operation, before checks, emit func(event.Event),
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
	_, err = executor.Run(ctx, executor.Options{
		Plan:      j.w.plan,
		Operation: op,
		Stack:     j.s.Settings.Stack.Text,
		Simulated: j.Simulation.On,
		Parallel:  j.Execution.Parallel,
		Estimates: plan.Estimates{Known: j.durations(op)}.Or(j.s.Plan.Declared()),
		OnError:   j.Execution.OnError,
		Retry:     j.Execution.retry(j.Simulation, j.LockTimeout),
		Timeout:   j.w.limit,
		Timeouts:  j.w.limits,
		Operator:  j.newOperator(op, before),
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
	stacks  *stacks.Set
	task    stacks.Task // for every step
	plan    planGuard   // the plan that an up must follow
	again   *secondLook // judges partial previews; nil if nothing depends on them
	cluster *clusterGuard
	cloud   cloudWatch
	before  hooks.BeforeFunc
	failed  func(ctx context.Context, step plan.Step, failure error, emit func(event.Event))
	inside  hooks.InsideFunc    // nil without --deep
	known   *unchanged.Projects // nil if nothing is known
	reasons *unchanged.Projects // of a preview: why projects run; nil for other operations
	outputs *outputContract
	rollout *Rollout
}

func (j *job) newOperator(op operation.Operation, check checks) operator {
	around := j.s.Hooks()
	around.LeaveBehind = j.Removal.LeaveBehind
	work := operator{
		stacks: j.s.Stacks, task: j.task(op), plan: j.newPlanGuard(op),
		before: around.Before(op, j.Removal.Forget), failed: around.Failed,
		known: check.known, again: check.again, rollout: j.Rollout, outputs: j.contract, cluster: j.cluster,
		cloud: newCloudWatch(j.s),
	}
	if op == operation.Preview {
		work.reasons = unchanged.New(j.s, false)
	}
	if j.Deep {
		work.inside = j.s.Hooks().Inside()
	}
	return work
}

// Operate implements executor.Operator.
func (o operator) Operate(ctx context.Context, step plan.Step, emit func(event.Event)) (executor.Outcome, error) {
	run, err := o.known.LastRun(ctx, step, emit)
	if err != nil {
		return executor.Outcome{}, err
	}
	if run != "" {
		return executor.Outcome{Skipped: "unchanged since " + run, Unchanged: run}, nil
	}
	o.reasons.Explain(ctx, step, emit)
	if o.rollout != nil {
		leave, err := o.rollout.Enter(ctx)
		if err != nil {
			return executor.Outcome{}, err
		}
		defer leave()
	}
	if err := o.before(ctx, step, emit); err != nil {
		return executor.Outcome{}, err
	}
	task := o.task
	task.Step, task.Secrets = step, o.known.ChangedSecrets(ctx, step.Project.Name)
	task.Fresh = o.cluster.isLost(step.Project.Name) && task.Operation == operation.Preview
	if err := o.outputs.before(ctx, step.Project.Name, emit); err != nil {
		return executor.Outcome{}, err
	}
	if err := o.hold(ctx, task, emit); err != nil {
		return executor.Outcome{}, err
	}
	if err := o.cluster.clear(ctx, task, emit); err != nil {
		return executor.Outcome{}, err
	}
	watched, end := o.cloud.follow(ctx, step.Project.Name, emit)
	outcome, err := o.stacks.Operate(ctx, task, watched)
	end()
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
		o.known.Done(ctx, step, outcome)
	}
	return executor.Outcome{Changes: outcome.Changes, Skipped: outcome.Skipped, Unknown: outcome.Unknown}, err
}
