package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/layout"
)

// keepRun puts a command of plain Pulumi on a project into the history, as it has ended. Its arguments are not kept:
// they may have secrets in them.
func keepRun(ctx context.Context, d cmd.Deps, s *session.Resolved, args []string, began time.Time, result error) error {
	project, err := s.Plan.Project(args[0])
	if err != nil {
		return err
	}
	words := words(args[1:])
	if words[0] == "state" || words[0] == "stack" {
		words = words[:min(2, len(words))]
	} else {
		words = words[:1]
	}
	op := operation.Plain(strings.Join(words, " "))
	id := journal.NewID(began)
	owner := lock.Self(string(op), id, began)
	meta := journal.Meta{
		Operation: op, Environment: s.Environment(), Simulated: s.Options.Simulation.On, Selection: []string{project.Name},
		Commit: gitsource.CommitOf(context.WithoutCancel(ctx), s.Settings.Root), Message: messageOf(args[1:]),
		User: owner.User, Host: owner.Host, PID: owner.PID, Runner: d.Version,
	}
	layout.IgnoreInGit(s.Settings.Root)
	kept, err := journal.Create(journal.Options{Dir: s.Directory.Runs(), ID: id, Meta: meta, Warn: func(event.Event) {}})
	if err != nil {
		return err
	}
	at := began
	emitter := event.NewEmitter(event.EmitterOptions{
		Run: id, Masker: s.Masker, Now: func() time.Time { return at }, Sinks: []event.Sink{kept},
	})
	named := event.Project{Name: project.Name, Title: project.Title}
	emitter.Emit(meta.Origin().Of(event.Event{
		Type: event.RunStarted, Format: event.Format, Operation: op, Provider: s.Provider.Name, Stack: s.Settings.Stack.Text,
		Simulated: meta.Simulated, Parallel: 1, Projects: []event.Project{named},
	}))
	emitter.Emit(event.Event{Type: event.StepStarted, Project: named.Name, Title: named.Title})
	emitter.Emit(event.Event{
		Type: event.StepLog, Project: named.Name, Title: named.Title, Severity: event.Info,
		Message: "ran through `" + cmd.Program + " pulumi`; what it printed is not kept",
	})
	at = d.Now()
	finished := event.Event{Type: event.StepFinished, Project: named.Name, Title: named.Title, Result: event.Succeeded,
		DurationMS: at.Sub(began).Milliseconds()}
	outcome := event.Succeeded
	switch code := cmd.ExitCode(result); {
	case result == nil:
	case ctx.Err() != nil || code == cmd.ExitInterrupted:
		outcome, finished.Result, finished.Reason = event.Interrupted, event.Cancelled, event.ReasonInterrupted
	default:
		outcome, finished.Result, finished.Error = event.Failed, event.Failed, fmt.Sprintf("Pulumi ended with exit code %d", code)
	}
	emitter.Emit(finished)
	results := event.Results{}.CountStep(named.Name, finished.Result, "")
	emitter.Emit(event.Event{Type: event.RunFinished, Result: outcome, DurationMS: finished.DurationMS, Results: &results})
	emitter.Close()
	return kept.Close()
}

// messageOf returns the message that Pulumi gets for its own history; "" for none.
func messageOf(args []string) string {
	for i, arg := range args {
		if text, ok := strings.CutPrefix(arg, "--message="); ok {
			return text
		}
		if slices.Contains([]string{"-m", "--message"}, arg) && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}
