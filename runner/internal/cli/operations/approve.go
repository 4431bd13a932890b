package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/run/event"
)

// rule says which previews up may carry out without asking.
type rule string

// The rules.
const (
	noRule     rule = ""
	noReplaces rule = "no-replaces" // nothing is replaced
	noDeletes  rule = "no-deletes"  // nothing is deleted, not even by a replacement
)

// broken returns the projects whose preview breaks the rule. A partial preview of
// a deployed project breaks it too: what it does not show may be anything.
func (r rule) broken(s *session.Session, preview event.Summary) []string {
	var names []string
	for _, step := range preview.Steps {
		goes := step.Changes.Replace > 0 || r == noDeletes && step.Changes.Delete > 0
		if goes || len(step.Unknown) > 0 && s.Stacks.IsDeployed(step.Name) {
			names = append(names, step.Name)
		}
	}
	return names
}

// checkConsent refuses an operation that needs confirmation without a terminal, before anything is opened. --yes and
// rules replace the confirmation; a simulated up needs none.
func (o operateOptions) checkConsent(d cmd.Deps) error {
	_, terminal := prompt.NewTerminal(d.Stdin, d.Stderr)
	decides := o.Operation.Deploys() && (o.Approve != noRule || o.Simulation.On)
	if !o.needsApproval() || o.Interactive && terminal || decides {
		return nil
	}
	return &failure.Usage{
		Text: fmt.Sprintf("%s needs confirmation, and this is not a terminal", o.Operation),
		Next: "add --yes to skip the confirmation",
	}
}

// needsApproval reports whether the operation asks before it changes something.
func (o operateOptions) needsApproval() bool {
	return !o.Yes && o.hold == nil && o.Operation.ChangesResources()
}

// approve asks for confirmation of an operation that changes resources. For an up it first shows the preview, and
// returns it; for a destroy it asks for the stack's name.
func approve(
	ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work,
) (shown event.Summary, err error) {
	terminal, ok := prompt.NewTerminal(d.Stdin, d.Stderr)
	ask := o.Interactive && ok
	if len(w.plan.Steps) == 0 || s.Unchanged != nil {
		return shown, nil
	}
	var found deployed
	if o.Operation.Deploys() || o.Operation.Destroys() {
		if found, err = readDeployed(ctx, s, w.plan); err != nil {
			return shown, err
		}
	}
	if o.Operation.Destroys() {
		if err := found.checkDestroy(s); err != nil {
			return shown, err
		}
	}
	switch {
	case o.needsApproval() && o.Operation.Deploys() && (ask || o.Approve != noRule):
		return approveUp(ctx, d, o, s, w, question{terminal, ask})
	case o.judges() || o.Operation.Deploys() && (o.isProtected(s) || len(found.protected()) > 0):
		if shown, err = preview(ctx, d, o, s, w); err != nil {
			return shown, err
		}
		return shown, o.confirmLosses(ctx, s, question{terminal, ask})
	case !o.needsApproval() || o.Operation.Deploys(): // without a terminal, a simulated up needs no confirmation
		return shown, nil
	}
	return shown, approveDestroy(ctx, s, d, terminal, found, w)
}

// question is the terminal to ask on, where that is possible.
type question struct {
	terminal prompt.Terminal
	possible bool
}

// approveUp shows a preview of all projects and asks once.
func approveUp(
	ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work, q question,
) (shown event.Summary, err error) {
	shown, err = preview(ctx, d, o, s, w)
	if err != nil {
		return shown, err
	}
	if err = o.confirmLosses(ctx, s, q); err != nil || len(*o.losses) > 0 {
		return shown, err // typing the name was the approval
	}
	var broken []string
	if o.Approve != noRule {
		broken = o.Approve.broken(s, shown)
	}
	switch {
	case len(broken) == 0 && (o.Approve != noRule || !shown.Changes.Any()):
		return shown, nil
	case !q.possible:
		text := "not approved by --auto-approve-if %s, because of %s; nothing was changed"
		return shown, &cmd.Declined{Text: fmt.Sprintf(text, o.Approve, strings.Join(broken, ", "))}
	}
	changes := shown.Changes.Words(operation.Preview)
	text := fmt.Sprintf("Deploy this to the stack %s (%s)?", s.Settings.Stack.Text, changes)
	return shown, cmd.Agreed(q.terminal.Confirm(ctx, text))
}

// preview shows what up would do, without recording a run.
func preview(
	ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work,
) (shown event.Summary, err error) {
	o.Operation = operation.Preview
	sinks := []event.Sink{&shown}
	var show cmd.Screen
	if o.Output != "json" {
		show, _ = newScreen(d, o, knownTo(s, o, w))
		sinks = append(sinks, show)
	}
	emitter := event.NewEmitter(event.EmitterOptions{Run: s.Held.RunID, Masker: s.Masker, Now: d.Now, Sinks: sinks})
	err = walk(ctx, d, o, s, w, checks{}, emitter.Emit)
	emitter.Close()
	if show == nil {
		return shown, err
	}
	_ = show.Close() // an error means that the terminal is gone
	printCosts(d, o)
	if err != nil {
		err = errors.Join(&cmd.Reported{Code: cmd.ExitCode(err)}, forbidden(err))
	}
	return shown, err
}

// approveDestroy lists what will be destroyed and asks for the stack's name.
func approveDestroy(
	ctx context.Context, s *session.Session, d cmd.Deps, terminal prompt.Terminal, found deployed, w work,
) error {
	found.list(d.Stderr, s, w.plan)
	answer, err := terminal.Text(ctx, "Type the stack's name to continue:")
	return cmd.Agreed(answer == s.Settings.Stack.Text, err)
}
