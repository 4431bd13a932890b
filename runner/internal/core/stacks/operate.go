package stacks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/machine/typeset"
)

// Task is one operation on one stack.
type Task struct {
	Operation operation.Operation
	Step      plan.Step
	// ParallelResources is how many resources the engine works on at once; zero
	// leaves it to Pulumi.
	ParallelResources int
	// Forget lets a destroy that cannot reach the cluster drop what was in it
	// from the state.
	Forget bool
	// InCluster limits a destroy to what is in the cluster, and to what depends on it.
	InCluster bool
	// Fresh has an up read the resources from their clouds first, and a preview, which does not change the state.
	Fresh bool
	// Targets limit an up or a preview to some resources.
	Targets Targets
	// Remove removes the stack once nothing is left in it.
	Remove bool
	// Clear makes a refresh forget the creations that were cut off.
	Clear bool
	// Record keeps what a preview finds: see Previewed.
	Record bool
	// Message says why, in the history of the stack; "" leaves it to Pulumi.
	Message string
	// Ahead is the program, if it was started before its turn; nil starts it now.
	Ahead *Ahead
	// PolicyPacks are directories with Pulumi's policy packs, for up and preview.
	PolicyPacks []string
	// Secrets reports, after an up, whether the secret output of a name has changed.
	// It is called only where the engine's events do not show that; nil stands for "no".
	Secrets func(name string) bool
}

// Targets are the resources that an up or a preview is limited to, or that it replaces, by URN.
type Targets struct {
	Only       []string // nothing else is touched; none stands for all
	Dependents bool     // with Only: what depends on them, too
	Replace    []string // even if nothing has changed
}

// Any reports whether resources are named.
func (t Targets) Any() bool { return len(t.Only)+len(t.Replace) > 0 }

// Outcome is the result of an operation on one stack.
type Outcome struct {
	Changes event.Changes
	Skipped string // why nothing was done, if so
	// Unknown are the projects whose outputs a preview has read although they
	// are not known yet. The preview is partial then.
	Unknown []string
	// Outputs are the outputs of the stack that an up or a preview changes.
	Outputs []event.OutputChange
	// Asked are the functions and resources that the program has asked its cloud
	// about; nil where the engine does not tell.
	Asked []string
	// Warnings is the number of warnings that the program and its providers have emitted.
	Warnings int
	// Link leads to the page of the update at Pulumi Cloud; "" where there is none.
	Link string
}

// Operate does a task. Events about resources, and diagnostics, go to emit while
// it runs. The error is the cause in one line; the diagnostics have the details.
func (e *Set) Operate(ctx context.Context, task Task, emit func(event.Event)) (Outcome, error) {
	w := work{Set: e, Task: task, project: task.Step.Project.Name, emit: emit}
	secrets := w.changedSecrets() // as the preview before an up has found, or as the up will show
	w.forgetPreview()
	if reason := w.nothingToDo(); reason != "" {
		return Outcome{Skipped: reason}, w.finishDestroy(ctx)
	}
	targets, err := w.targets(ctx)
	if err != nil || w.InCluster && len(targets) == 0 { // without targets everything would be destroyed
		return Outcome{Skipped: "nothing in the cluster"}, err
	}
	w.events = &arrival{begun: make(chan struct{}), patience: e.patience}
	command, foresight := w.command()
	at, err := e.placeOf(ctx, w.project, command, w.events, task.Ahead)
	if err != nil {
		return Outcome{}, err
	}
	w.engine = newEngineEvents(emit, w.events.begun)
	if task.Record {
		w.engine.mask = e.options.Masker.Mask
	}
	w.engine.compared = comparedIn(task.Operation, e.options.Masker.Mask)
	e.forgetQuestions(w.project)
	err = perform(ctx, task, at, targets, w.engine.channel)
	w.engine.wait()
	e.read.forget(w.project)
	link := e.endUpdate(w.project, err != nil)
	err = w.verdict(ctx, err)
	outcome := Outcome{Changes: w.engine.result(), Link: link}
	if err != nil {
		return outcome, err
	}
	if asked, known := e.questions(w.project); known {
		outcome.Asked = asked
	}
	outcome.Warnings = len(w.engine.warnings)
	w.learn()
	w.storeReported()
	if task.Operation == operation.Preview {
		found := cmp.Or(foresight.Found, &wire.Found{}) // nil from an installed Pulumi
		outcome.Unknown = w.unknownNeeds(found)
		if n := w.engine.vague; n > 0 && len(outcome.Unknown) == 0 {
			event.Say(emit, event.Warning, "the provider of %s has inputs that are not known before an up, which may change more "+
				"than this shows", typeset.Counted(n, "resource"))
		}
		w.keepForesight(found, outcome.Unknown)
		secrets = w.changedSecrets()
	}
	outputs := w.reportOutputs(secrets)
	outcome.Outputs, outcome.Changes.Outputs = outputs, len(outputs)
	if task.Operation == operation.Preview {
		w.keepPreview(outcome.Unknown, outputs)
	}
	if task.Operation.RunsPrograms() {
		w.compareReferences(w.engine.references)
	}
	return outcome, w.finishDestroy(ctx)
}

// work is a task that is being done.
type work struct {
	*Set
	Task
	project string
	events  *arrival
	engine  *engineEvents
	emit    func(event.Event)
}

// verdict returns the error of an operation that Pulumi has ended with err.
func (w work) verdict(ctx context.Context, err error) error {
	if err == nil {
		// An engine that is cancelled between two resources may call it a
		// success, and leave the rest undone.
		err = context.Cause(ctx)
	}
	if err == nil && w.engine.summary == nil || w.events.never {
		err = errSilent
	}
	gone := len(w.engine.unreachable.messages) > 0
	if err == nil && gone {
		w.emit(warning("%s", &w.engine.unreachable))
	}
	if err == nil {
		return nil
	}
	err = w.failure(ctx, err)
	// A time limit of the runner's ends the wait as well as one of the provider's.
	waited := ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded)
	if w.engine.notReady && w.Operation.Deploys() && waited {
		err = &NotReadyError{err}
	}
	if len(w.engine.stuck) > 0 && w.Operation.Destroys() && waited {
		err = &StuckError{err, w.engine.stuck}
	}
	if gone && w.Operation.Destroys() && ctx.Err() == nil {
		return w.withoutCluster(ctx, err)
	}
	return err
}

// nothingToDo says why an operation has nothing to do; "" if it has.
func (w work) nothingToDo() string {
	if w.Operation.RunsPrograms() {
		return ""
	}
	switch summary := w.Summary(w.project); {
	case !summary.Exists:
		return "never deployed"
	case summary.Resources == 0:
		return "nothing deployed"
	}
	return ""
}

// learn updates the summary of the project after the operation.
func (w work) learn() {
	switch {
	case w.Operation.Deploys(), w.InCluster:
		w.remember(w.project, func(s *Summary) { s.Resources = max(s.Resources, 1) })
	case w.Operation.Destroys():
		w.remember(w.project, func(s *Summary) { s.Resources = 0 })
	}
}

// finishDestroy removes the stack of a destroyed project, if the task says so.
func (w work) finishDestroy(ctx context.Context) error {
	if !w.Operation.Destroys() || !w.Remove || w.InCluster || !w.Summary(w.project).Exists {
		return nil
	}
	if _, err := w.runOn(ctx, w.project, "stack", "rm", "--yes", "--preserve-config"); err != nil {
		return fmt.Errorf("removing the stack: %w", err)
	}
	w.remember(w.project, func(s *Summary) { *s = Summary{} })
	return nil
}

// perform runs the operation through the Automation API. It reports by events
// alone; the text output is not used.
func perform(ctx context.Context, task Task, at place, targets []string, channel chan<- events.EngineEvent) error {
	var err error
	resources := task.ParallelResources
	switch task.Operation {
	case operation.Up:
		options := []optup.Option{optup.EventStreams(channel), optup.ShowSecrets(false),
			optup.SuppressOutputs(), optup.UserAgent(agent), optup.ConfigFile(at.stackFile), optup.Parallel(resources),
			optup.PolicyPacks(task.PolicyPacks...), optup.Message(task.Message),
			optup.Target(task.Targets.Only), optup.Replace(task.Targets.Replace)}
		if task.Targets.Dependents {
			options = append(options, optup.TargetDependents())
		}
		if task.Fresh {
			options = append(options, optup.Refresh())
		}
		_, err = at.Up(ctx, options...)
	case operation.Preview:
		options := []optpreview.Option{optpreview.EventStreams(channel), optpreview.SuppressOutputs(),
			optpreview.UserAgent(agent), optpreview.ConfigFile(at.stackFile), optpreview.Parallel(resources),
			optpreview.PolicyPacks(task.PolicyPacks...), optpreview.Message(task.Message),
			optpreview.Target(task.Targets.Only), optpreview.Replace(task.Targets.Replace)}
		if task.Targets.Dependents {
			options = append(options, optpreview.TargetDependents())
		}
		if task.Fresh {
			options = append(options, optpreview.Refresh())
		}
		_, err = at.Preview(ctx, options...)
	case operation.Refresh, operation.Drift:
		options := []optrefresh.Option{optrefresh.EventStreams(channel), optrefresh.SuppressOutputs(),
			optrefresh.UserAgent(agent), optrefresh.ConfigFile(at.stackFile), optrefresh.Parallel(resources),
			optrefresh.Message(task.Message)}
		if task.Operation == operation.Drift {
			_, err = at.PreviewRefresh(ctx, options...)
			break
		}
		options = append(options, optrefresh.ShowSecrets(false))
		if task.Clear {
			options = append(options, optrefresh.ClearPendingCreates())
		}
		_, err = at.Refresh(ctx, options...)
	case operation.Destroy:
		options := []optdestroy.Option{optdestroy.EventStreams(channel), optdestroy.ShowSecrets(false),
			optdestroy.SuppressOutputs(), optdestroy.UserAgent(agent), optdestroy.ConfigFile(at.stackFile),
			optdestroy.Parallel(resources), optdestroy.Message(task.Message)}
		if task.InCluster {
			options = append(options, optdestroy.Target(targets), optdestroy.TargetDependents())
		}
		_, err = at.Destroy(ctx, options...)
	default:
		panic(fmt.Sprintf("unknown operation %q", task.Operation))
	}
	return err
}

// agent names the runner in Pulumi's update metadata.
const agent = "mara"

// compareReferences warns when a program reads other stacks than the plan
// declares. Without the declaration a parallel run may start the program too
// early; with one too many it starts later than it could.
func (w work) compareReferences(found map[string]bool) {
	declared := map[string]bool{}
	for _, project := range w.Step.Reads {
		declared[project] = true
		if !found[w.qualified(project)] {
			w.emit(warning("the plan declares that it reads %s, but it did not", project))
		}
	}
	for _, project := range w.Step.Outside { // a selection has left it out
		declared[project] = true
	}
	for name := range found {
		if project, ours := w.ProjectOf(name); ours && !declared[project] {
			e := warning("it reads %s, which the plan does not declare; a parallel run may start it too early%s", project,
				w.missingEdge(project))
			e.Undeclared = project
			w.emit(e)
		}
	}
}

// missingEdge says what to write where a project of the user's own declares too
// little.
func (w work) missingEdge(project string) string {
	own := w.Step.Project.Own
	if own == nil {
		return ""
	}
	reads, _ := json.Marshal(append(slices.Clone(w.Step.Reads), project)) // texts
	return fmt.Sprintf("; write at its entry (%s:%d)  reads: %s, or run `runner plan --learn`", config.MaraFile,
		own.Line, reads)
}

func warning(format string, args ...any) event.Event {
	return event.Event{Type: event.RunWarning, Message: fmt.Sprintf(format, args...)}
}
