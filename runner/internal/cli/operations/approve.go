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
	noDeletes  rule = "no-deletes"  // nothing that exists goes, which a replacement does, too
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

// checkConsent refuses an operation that nobody can approve, before anything is
// opened. Without a terminal it takes --yes or a rule; a simulated up needs neither.
func (o operateOptions) checkConsent(d cmd.Deps) error {
	_, terminal := prompt.NewTerminal(d.Stdin, d.Stderr)
	decides := o.Operation.Deploys() && (o.Approve != noRule || o.Simulation.On)
	if !o.needsApproval() || o.Interactive && terminal || decides {
		return nil
	}
	return &failure.Usage{
		Text: fmt.Sprintf("%s needs a confirmation, and there is nobody to ask", o.Operation),
		Next: "add --yes to do it without asking",
	}
}

// needsApproval says whether the operation asks before it changes something.
func (o operateOptions) needsApproval() bool {
	return !o.Yes && o.hold == nil && o.Operation.ChangesResources()
}

// approve asks before an operation that changes something. Up first shows its
// preview, which is returned. Destroy asks for the stack's name.
func approve(ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work) (shown event.Summary, err error) {
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
	case !o.needsApproval() || o.Operation.Deploys(): // without a terminal, a simulated up is not asked for
		return shown, nil
	}
	return shown, approveDestroy(ctx, s, d, terminal, found, w)
}

// question is a terminal to ask on, if there is one.
type question struct {
	terminal prompt.Terminal
	possible bool
}

// approveUp shows a preview of all projects and asks once.
func approveUp(ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work, q question) (shown event.Summary, err error) {
	shown, err = preview(ctx, d, o, s, w)
	if err != nil {
		return shown, err
	}
	if err = o.confirmLosses(ctx, s, q); err != nil || len(*o.losses) > 0 {
		return shown, err // who has typed the name has agreed
	}
	var broken []string
	if o.Approve != noRule {
		broken = o.Approve.broken(s, shown)
	}
	switch {
	case len(broken) == 0 && (o.Approve != noRule || !shown.Changes.Any()):
		return shown, nil
	case !q.possible:
		return shown, &cmd.Declined{Text: fmt.Sprintf("not approved by --auto-approve-if %s, because of %s; nothing was changed", o.Approve, strings.Join(broken, ", "))}
	}
	return shown, cmd.Agreed(q.terminal.Confirm(ctx, fmt.Sprintf("Deploy this to the stack %s (%s)?", s.Settings.Stack.Text, shown.Changes.Words(operation.Preview))))
}

// preview shows what up would do. It is not recorded as a run.
func preview(ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work) (shown event.Summary, err error) {
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
	_ = show.Close() // nobody reads any more
	printCosts(d, o)
	if err != nil {
		err = errors.Join(&cmd.Reported{Code: cmd.ExitCode(err)}, forbidden(err))
	}
	return shown, err
}

// approveDestroy lists what will be destroyed and asks for the stack's name.
func approveDestroy(ctx context.Context, s *session.Session, d cmd.Deps, terminal prompt.Terminal, found deployed, w work) error {
	if err := found.list(d.Stderr, s, w.plan); err != nil {
		return err
	}
	answer, err := terminal.Text(ctx, "Type the stack's name to go on:")
	return cmd.Agreed(answer == s.Settings.Stack.Text, err)
}
