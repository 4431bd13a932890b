package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/run/event"
)

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
			p.emit(event.Event{Type: event.StepLog, Severity: e.Severity, Message: source + ": " + e.Message})
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
	var reported *failure.Reported
	if err == nil || !errors.As(err, &reported) {
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
