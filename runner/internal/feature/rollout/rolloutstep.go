package rollout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/operate"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/relay"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/process"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/machine/typeset"
)

// Operate implements executor.Operator: a step is an environment or a wave's end.
func (r *rollout) Operate(ctx context.Context, step plan.Step, emit func(event.Event)) (executor.Outcome, error) {
	if event.EndsWave(step.Project.Name) {
		return r.endWave(ctx, step.Project.Name, emit)
	}
	stack := step.Project.Name
	steps := r.o.Steps[stack]
	if len(steps) == 0 {
		return r.perform(ctx, r.request(r.Operation, stack), emit)
	}
	var outcome executor.Outcome
	for i, one := range steps {
		if r.isStopping() {
			return outcome, interrupt.ErrInterrupted
		}
		event.Say(emit, event.Info, "step %d of %d: %s", i+1, len(steps), one.Title)
		if err := one.Begin(); err != nil {
			return outcome, err
		}
		request := r.request(r.Operation, stack)
		request.Selection = plan.Selection{Only: one.Only}
		done, err := r.perform(ctx, request, emit)
		outcome.Changes = outcome.Changes.Plus(done.Changes)
		if err != nil {
			return outcome, fmt.Errorf("step %d of %d, %s: %w", i+1, len(steps), one.Title, err)
		}
	}
	return outcome, nil
}

// perform carries out a request in its environment, and notes the run.
func (r *rollout) perform(ctx context.Context, one operate.Request, emit func(event.Event)) (executor.Outcome, error) {
	p, err := r.operate(ctx, one, emit)
	if p.summary.Run != "" {
		r.ran.Store(one.Stack.Text, p.summary.Run)
	}
	if op := one.Operation; op == r.Operation && (op == operation.Preview || op == operation.Drift) {
		r.differs.Store(one.Stack.Text, r.o.View.Differences(&p.summary))
	}
	var outcome executor.Outcome
	if p.summary.Operation == one.Operation { // and not the preview of an up that was refused, which has changed nothing
		outcome.Changes = p.summary.Changes
	}
	if since := p.unchanged(); err == nil && since != "" {
		outcome.Skipped, outcome.Unchanged = "unchanged since "+since, since
	}
	return outcome, err
}

// operate carries out a request in its environment, as the command for one does. The screen of the rollout shows its
// events, and what it writes to stderr.
func (r *rollout) operate(ctx context.Context, one operate.Request, emit func(event.Event)) (*part, error) {
	p := &part{emit: emit, stop: r.stop, room: r.room, operation: one.Operation}
	one.Rollout = &operate.Rollout{ID: r.run.ID(), Resumes: r.resumes, Stop: r.stop, Enter: p.enter}
	one.Waiting = session.Waiting{Stop: r.stop, Tell: func(text string) { event.Say(emit, event.Warning, "%s", text) }}
	d := r.d
	d.Stderr = &process.Lines{Emit: func(line string) { event.Say(emit, event.Info, "%s", strings.TrimSpace(line)) }}
	d.StdinIsTerminal, d.Interrupt = false, nil // the rollout says when to stop
	facts := ui.Facts{NoColour: true, Getenv: r.o.View.Facts.Getenv, OS: r.o.View.Facts.OS}
	_, err := operate.Run(ctx, d, one, relay.View{Stdout: io.Discard, Facts: facts, Screen: p})
	return p, p.err(err)
}

// request returns the request for an operation on one environment. It names each option that a rollout passes on,
// so that no other reaches an environment. A gate looks at the whole environment, whatever the rollout selects,
// resumes or allows: it gets the options that say how to run, and no others.
func (r *rollout) request(op operation.Operation, stack string) operate.Request {
	one := operate.Request{
		Options: session.Options{
			Request: r.Of(stack), Operation: op, Pulumi: r.Pulumi, LockTimeout: r.LockTimeout, Shared: &r.shared,
			NeedSecrets: op.RunsPrograms(), Overrides: r.Overrides, AtOnce: r.AtOnce,
		},
		Yes:       true,
		Execution: operate.Execution{Parallel: r.Execution.Parallel, Resources: r.Execution.Resources},
		Rollout:   &operate.Rollout{Resumes: r.resumes},
	}
	one.Interactive = false
	if op != r.Operation {
		return one
	}
	one.Selection, one.Secrets, one.Rest = r.Selection, r.Secrets, r.Rest
	one.Execution, one.Removal, one.Carried = r.Execution, r.Removal, r.Carried
	one.Force, one.Deep, one.Allow = r.force, r.Deep, r.Allow
	one.NewBackend, one.WarnMissing, one.Guards = r.NewBackend, r.WarnMissing, r.Guards
	return one
}

// endWave lets a wave soak, and waits for its gates. A destroy has neither.
func (r *rollout) endWave(ctx context.Context, step string, emit func(event.Event)) (executor.Outcome, error) {
	w, ends := r.plan.Ends(step)
	if !ends || !r.Operation.Deploys() {
		return executor.Outcome{Skipped: event.WaveUnwaited}, nil
	}
	if w.Soak == 0 && len(w.Gates) == 0 {
		return executor.Outcome{Skipped: event.WaveDone}, nil
	}
	if w.Soak > 0 {
		soak := func() error { // unless the rollout stops
			ctx, done := session.Waiting{Stop: r.stop}.Until(ctx)
			defer done()
			return interrupt.Sleep(ctx, w.Soak)
		}
		if err := hooked(emit, "soak "+event.FormatDuration(w.Soak), soak); err != nil {
			return executor.Outcome{}, err
		}
	}
	var passed []string
	for _, gate := range w.Gates {
		if r.isStopping() {
			return executor.Outcome{}, interrupt.ErrInterrupted
		}
		if slices.Contains(r.o.SkipGates, gate.Kind) {
			text := fmt.Sprintf("gate %s of wave %s is skipped by --skip-gate", gate, w.Name)
			emit(event.Event{Type: event.RunWarning, Message: text})
			continue
		}
		if err := hooked(emit, "gate "+gate.String(), func() error { return r.pass(ctx, w, gate, emit) }); err != nil {
			return executor.Outcome{}, fmt.Errorf("gate %s: %w", gate, err)
		}
		passed = append(passed, gate.Identity())
	}
	err := r.each(ctx, w, func(ctx context.Context, stack string) error {
		return record.PassGates(ctx, r.d, r.Options, stack, r.run.ID(), passed)
	})
	if err != nil {
		err = fmt.Errorf("recording which gates have passed: %w", err)
	}
	return executor.Outcome{}, err
}

// isStopping reports whether an interrupt has asked that nothing new starts.
func (r *rollout) isStopping() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// hooked calls do between the events of a hook.
func hooked(emit func(event.Event), name string, do func() error) error {
	began := time.Now()
	emit(event.Event{Type: event.HookStarted, Hook: name})
	err := do()
	e := event.Event{
		Type: event.HookFinished, Hook: name, Result: event.Succeeded, DurationMS: time.Since(began).Milliseconds(),
	}
	if err != nil {
		e.Result, e.Error = event.Failed, err.Error()
	}
	emit(e)
	return err
}

// environmentsIn returns the environments that a rollout works on.
func environmentsIn(p plan.Plan) []string {
	return slices.DeleteFunc(p.Names(), event.EndsWave)
}

func (r *rollout) approve(ctx context.Context) error {
	environments := environmentsIn(r.steps)
	if !r.NeedsApproval() || len(environments) == 0 {
		return nil
	}
	terminal, ok := r.Terminal(r.d)
	if !ok {
		if r.Operation.Deploys() && r.Simulation.On {
			return nil
		}
		return prompt.NoTerminal("fleet " + r.o.Command)
	}
	fmt.Fprintf(
		r.d.Stderr, "%s of %s: %s\n", r.o.Command, typeset.Counted(len(environments), "environment"),
		strings.Join(environments, ", "),
	)
	if r.Operation.Destroys() {
		answer, err := terminal.Text(ctx, "This destroys everything in them. Type their number to continue:")
		return prompt.Agreed(answer == fmt.Sprint(len(environments)), err)
	}
	question := fmt.Sprintf("%s all of them?", r.o.Command)
	if r.o.Command != string(operation.Up) {
		return prompt.Agreed(terminal.Confirm(ctx, question))
	}
	for {
		answer, err := terminal.Decide(ctx, question, prompt.Option{Value: preview, Note: "preview them first"})
		if err != nil || answer != preview {
			return prompt.Agreed(answer == prompt.Yes, err)
		}
		if err := r.preview(ctx, environments); err != nil {
			return err
		}
	}
}

// preview is the answer that wants to see what would change before the decision.
const preview = "p"

// preview shows what the up would change in environments, the same once. A preview that fails is shown, too, and leaves
// the decision to the user.
func (r *rollout) preview(ctx context.Context, environments []string) error {
	o := r.o
	o.Command, o.Chosen, o.Affected = string(operation.Preview), fleet.Selection{Names: environments}, Affected{}
	o.Request.Operation, o.Request.Rest, o.Request.Force = operation.Preview, operate.Rest{}, false
	_, err := Run(ctx, r.d, o)
	if _, isShown := errors.AsType[*failure.Reported](err); isShown && ctx.Err() == nil {
		return nil
	}
	return err
}

func (r *rollout) projects() map[string]int {
	known := map[string]int{}
	for name, e := range r.plan.Environments {
		if provider, err := r.Known().ByName(e.Provider); err == nil {
			known[name] = len(provider.Steps)
		}
	}
	return known
}

// asks reports whether there will be questions, which a live view would paint over.
func (r *rollout) asks() bool {
	return r.Operation.Deploys() && !r.Yes && slices.ContainsFunc(r.steps.Names(), func(name string) bool {
		w, ends := r.plan.Ends(name)
		return ends && slices.ContainsFunc(w.Gates, func(g fleet.Gate) bool { return g.Kind == fleet.AskGate })
	})
}

// part is the operation on one environment of a rollout, which gets its events.
type part struct {
	emit func(event.Event) // adds the environment
	stop <-chan struct{}   // ends it gently
	room chan struct{}     // holds a token for each project that runs, in all environments

	operation operation.Operation
	ended     int           // projects
	summary   event.Summary // of the run
}

// Emit implements event.Sink. It shows the projects of an environment as a project's resources are shown.
func (p *part) Emit(e event.Event) {
	p.summary.Apply(e)
	progress := event.Event{
		Type: event.StepProgress, Resource: event.Resource{Type: "project", Name: e.Project}, Action: p.action(),
		Status: event.ActionStarted,
	}
	switch e.Type {
	case event.StepStarted:
		p.emit(progress)
	case event.StepFinished:
		if step, _ := p.summary.Step(e.Project); step == nil || step.Started.IsZero() {
			return
		}
		p.ended++
		progress.Status, progress.Counts = event.ActionDone, &event.Changes{Same: p.ended}
		if e.Result == event.Failed {
			progress.Status = event.ActionFailed
		}
		p.emit(progress)
	case event.RunWarning:
		if e.Project != "" && e.Project != event.RunProject {
			e.Message = e.Project + ": " + e.Message
		}
		p.emit(event.Event{Type: event.RunWarning, Message: e.Message, Finding: e.Finding})
	case event.StepLog:
		if e.Severity == event.Error || e.Severity == event.Warning {
			source := strings.TrimSpace(e.Project + " " + e.Resource.String())
			event.Say(p.emit, e.Severity, "%s: %s", source, e.Message)
		}
	}
}

// action returns the action that progress shows for a project.
func (p *part) action() event.Action {
	switch p.operation {
	case operation.Up:
		return event.Update
	case operation.Destroy:
		return event.Delete
	case operation.Preview:
		return event.Read
	}
	return event.Reload
}

// Close implements ui.Screen.
func (p *part) Close() error { return nil }

// enter waits until one more project may run; leave makes room for another. When the rollout stops, projects that
// still wait do not run.
func (p *part) enter(ctx context.Context) (leave func(), err error) {
	select {
	case p.room <- struct{}{}:
		select {
		case <-p.stop: // both were ready
			<-p.room
			return nil, interrupt.ErrInterrupted
		default:
			return func() { <-p.room }, nil
		}
	case <-p.stop:
		return nil, interrupt.ErrInterrupted
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// unchanged returns the last run since which nothing has changed, or "" if a project was run.
func (p *part) unchanged() string {
	last := ""
	for _, step := range p.summary.Steps {
		if step.Unchanged == "" {
			return ""
		}
		last = max(last, step.Unchanged)
	}
	return last
}

// err returns the error that the rollout shows. An error that the run has reported is replaced with the errors of its
// projects.
func (p *part) err(err error) error {
	if _, reported := errors.AsType[*failure.Reported](err); !reported {
		return err
	}
	if p.summary.Outcome() == event.Interrupted {
		return interrupt.ErrInterrupted
	}
	var causes []string
	for _, step := range p.summary.Steps {
		if errs := step.Errors(); step.Result == event.Failed && len(errs) > 0 {
			causes = append(causes, fmt.Sprintf("%s: %s", step.Name, errs[0].Message))
		}
	}
	if len(causes) == 0 {
		return fmt.Errorf("%s failed", p.operation)
	}
	return errors.New(strings.Join(causes, "\n"))
}
