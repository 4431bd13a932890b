package stacks

import (
	"context"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"

	"mara/operation"
	"mara/runner/internal/event"
	"mara/runner/internal/plan"
)

// Task is one operation on one stack.
type Task struct {
	Operation operation.Operation
	Step      plan.Step
	// ParallelResources is how many resources the engine works on at once; zero
	// leaves it to Pulumi.
	ParallelResources int
	// Forgiven drops from the state what was in a cluster that is gone or
	// cannot be reached, instead of failing to destroy it.
	Forgiven bool
	// Remove removes the stack once nothing is left in it.
	Remove bool
	// Clear makes a refresh forget the creations that were cut off.
	Clear bool
}

// Outcome is what an operation on one stack came to.
type Outcome struct {
	Changes event.Changes
	Skipped string // why nothing was done, if so
	// Unknown are the projects whose outputs a preview has read before they are
	// known: it is partial.
	Unknown []string
}

// Operate does one operation on the stack of a step. Events about its
// resources and diagnostics go to emit while it runs. The error is the cause in
// one line; the diagnostics carry the details.
func (e *Environment) Operate(ctx context.Context, op operation.Operation, step plan.Step, emit func(event.Event)) (Outcome, error) {
	return e.Do(ctx, Task{Operation: op, Step: step}, emit)
}

// Do does a task, as Operate does.
func (e *Environment) Do(ctx context.Context, task Task, emit func(event.Event)) (Outcome, error) {
	project := task.Step.Project.Name
	if reason := e.nothingToDo(task.Operation, project); reason != "" {
		return Outcome{Skipped: reason}, e.finishDestroy(ctx, task)
	}
	stack, err := e.stackOf(ctx, project)
	if err != nil {
		return Outcome{}, err
	}
	engine := newEngineEvents(emit)
	err = perform(ctx, task, stack, engine.channel)
	engine.wait()
	if err == nil {
		// An engine that is cancelled between two resources may call it a
		// success, and leave the rest undone.
		err = context.Cause(ctx)
	}
	if err != nil {
		err = e.forgive(ctx, task, e.failure(ctx, err, engine), emit)
		if ctx.Err() == nil {
			err = withHint(err, strings.Join(engine.errors, "\n"))
		}
	}
	outcome := Outcome{Changes: engine.result()}
	if err != nil {
		return outcome, err
	}
	e.learn(task.Operation, project)
	e.noteTold(task.Operation, project, engine.outputs)
	if task.Operation == operation.Preview {
		outcome.Unknown = e.unknownNeeds(task.Step)
		e.expect(project, engine.changesOutputs(len(outcome.Unknown) > 0))
	}
	if task.Operation.RunsPrograms() {
		e.compareReferences(task.Step, engine.references, emit)
	}
	return outcome, e.finishDestroy(ctx, task)
}

// nothingToDo says why an operation has nothing to work on.
func (e *Environment) nothingToDo(op operation.Operation, project string) string {
	if op.RunsPrograms() {
		return ""
	}
	switch summary := e.Summary(project); {
	case !summary.Exists:
		return "never deployed"
	case summary.Resources == 0:
		return "nothing deployed"
	}
	return ""
}

// learn keeps the summaries true for later steps of the same run.
func (e *Environment) learn(op operation.Operation, project string) {
	switch {
	case op.Deploys():
		e.remember(project, func(s *Summary) { s.Resources = max(s.Resources, 1) })
	case op.Destroys():
		e.remember(project, func(s *Summary) { s.Resources = 0 })
	}
}

// perform runs the operation through the Automation API. Its text output is
// not used: everything comes as events.
func perform(ctx context.Context, task Task, stack auto.Stack, channel chan<- events.EngineEvent) error {
	var err error
	resources := task.ParallelResources
	switch task.Operation {
	case operation.Up:
		_, err = stack.Up(ctx, optup.EventStreams(channel), optup.ShowSecrets(false),
			optup.SuppressOutputs(), optup.UserAgent(agent), optup.Parallel(resources))
	case operation.Preview:
		_, err = stack.Preview(ctx, optpreview.EventStreams(channel), optpreview.SuppressOutputs(),
			optpreview.UserAgent(agent), optpreview.Parallel(resources))
	case operation.Refresh:
		options := []optrefresh.Option{optrefresh.EventStreams(channel), optrefresh.ShowSecrets(false),
			optrefresh.SuppressOutputs(), optrefresh.UserAgent(agent), optrefresh.Parallel(resources)}
		if task.Clear {
			options = append(options, optrefresh.ClearPendingCreates())
		}
		_, err = stack.Refresh(ctx, options...)
	case operation.Drift:
		_, err = stack.PreviewRefresh(ctx, optrefresh.EventStreams(channel), optrefresh.SuppressOutputs(),
			optrefresh.UserAgent(agent), optrefresh.Parallel(resources))
	case operation.Destroy:
		_, err = stack.Destroy(ctx, optdestroy.EventStreams(channel), optdestroy.ShowSecrets(false),
			optdestroy.SuppressOutputs(), optdestroy.UserAgent(agent), optdestroy.Parallel(resources))
	default:
		panic(fmt.Sprintf("unknown operation %q", task.Operation))
	}
	return err
}

// agent names the runner in Pulumi's update metadata.
const agent = "mara"

// compareReferences warns when a program reads other stacks than the plan
// declares: a missing edge is an accident of timing that waits to happen, a
// superfluous one makes runs slower.
func (e *Environment) compareReferences(step plan.Step, found map[string]bool, emit func(event.Event)) {
	declared := map[string]bool{}
	for _, project := range step.Reads {
		declared[project] = true
		if !found[e.qualified(project)] {
			emit(warning("the plan declares that it reads %s, but it did not", project))
		}
	}
	for _, project := range step.Outside { // a selection has left it out
		declared[project] = true
	}
	for name := range found {
		if project, ours := e.projectOf(name); ours && !declared[project] {
			emit(warning("it reads %s, which the plan does not declare; a parallel run may start it too early", project))
		}
	}
}

func warning(format string, args ...any) event.Event {
	return event.Event{Type: event.RunWarning, Message: fmt.Sprintf(format, args...)}
}
