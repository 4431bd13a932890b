package stacks

import (
	"context"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"

	"mara/runner/internal/event"
	"mara/runner/internal/plan"
)

// Outcome is what an operation on one stack came to.
type Outcome struct {
	Changes event.Changes
	Skipped string // why nothing was done, if so
}

// Operate does one operation on the stack of a step. Events about its
// resources and diagnostics go to emit while it runs. The error is the cause in
// one line; the diagnostics carry the details.
func (e *Environment) Operate(ctx context.Context, operation string, step plan.Step, emit func(event.Event)) (Outcome, error) {
	project := step.Project.Name
	if reason := e.nothingToDo(operation, project); reason != "" {
		return Outcome{Skipped: reason}, nil
	}
	stack, err := e.stackOf(ctx, project)
	if err != nil {
		return Outcome{}, err
	}
	engine := newEngineEvents(emit)
	err = perform(ctx, operation, stack, engine.channel)
	engine.wait()
	if err != nil {
		return Outcome{Changes: engine.changes}, e.failure(ctx, err, engine)
	}
	e.learn(operation, project)
	if operation == event.Up || operation == event.Preview {
		e.compareReferences(step, engine.references, emit)
	}
	return Outcome{Changes: engine.changes}, nil
}

// nothingToDo says why an operation has nothing to work on.
func (e *Environment) nothingToDo(operation, project string) string {
	if operation != event.Refresh && operation != event.Destroy {
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
func (e *Environment) learn(operation, project string) {
	switch operation {
	case event.Up:
		e.remember(project, func(s *Summary) { s.Resources = max(s.Resources, 1) })
	case event.Destroy:
		e.remember(project, func(s *Summary) { s.Resources = 0 })
	}
}

// perform runs the operation through the Automation API. Its text output is
// not used: everything comes as events.
func perform(ctx context.Context, operation string, stack auto.Stack, channel chan<- events.EngineEvent) error {
	var err error
	switch operation {
	case event.Up:
		_, err = stack.Up(ctx, optup.EventStreams(channel), optup.ShowSecrets(false),
			optup.SuppressOutputs(), optup.UserAgent(agent))
	case event.Preview:
		_, err = stack.Preview(ctx, optpreview.EventStreams(channel), optpreview.SuppressOutputs(),
			optpreview.UserAgent(agent))
	case event.Refresh:
		_, err = stack.Refresh(ctx, optrefresh.EventStreams(channel), optrefresh.ShowSecrets(false),
			optrefresh.SuppressOutputs(), optrefresh.UserAgent(agent))
	case event.Destroy:
		_, err = stack.Destroy(ctx, optdestroy.EventStreams(channel), optdestroy.ShowSecrets(false),
			optdestroy.SuppressOutputs(), optdestroy.UserAgent(agent))
	default:
		panic(fmt.Sprintf("unknown operation %q", operation))
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
	for name := range found {
		if project, ours := e.projectOf(name); ours && !declared[project] {
			emit(warning("it reads %s, which the plan does not declare; a parallel run may start it too early", project))
		}
	}
}

func warning(format string, args ...any) event.Event {
	return event.Event{Type: event.RunWarning, Message: fmt.Sprintf(format, args...)}
}
