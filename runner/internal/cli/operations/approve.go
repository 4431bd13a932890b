package operations

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/plan"
	"mara/runner/internal/prompt"
	"mara/runner/internal/session"
)

// rule is what a preview has to be like for up to go on without asking.
type rule string

// The rules.
const (
	noRule     rule = ""
	noReplaces rule = "no-replaces" // nothing is replaced
	noDeletes  rule = "no-deletes"  // nothing that exists goes, which a replacement does, too
)

// approveFlags are the flags of up that decide about asking.
func approveFlags() []cli.Flag {
	return []cli.Flag{&cli.GenericFlag{
		Name: "auto-approve-if", Value: &cmd.Choice{Allowed: []string{string(noDeletes), string(noReplaces)}, Value: string(noRule)},
		Usage: "preview first, and do not ask if the preview follows `RULE`: no-deletes, no-replaces",
	}}
}

// broken names the projects whose preview does not follow the rule. What a
// partial preview of something that exists has not shown yet may be anything.
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

// checkConsent finds that nobody can ever approve, before anything is opened.
// Without somebody to ask it takes --yes, or a rule to decide by; a simulated up,
// which costs nothing, goes on.
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
	return !o.Yes && o.Operation.ChangesResources()
}

// approve asks before an operation that changes something. Up shows what it
// would do first, and returns that. Destroying takes the stack's name for an
// answer.
func approve(ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work) (shown event.Summary, err error) {
	terminal, ok := prompt.NewTerminal(d.Stdin, d.Stderr)
	ask := o.Interactive && ok
	switch {
	case !o.needsApproval() || len(w.plan.Steps) == 0:
		return shown, nil
	case o.Operation.Deploys() && (ask || o.Approve != noRule):
		return approveUp(ctx, d, o, s, w, question{terminal, ask})
	case o.Operation.Deploys():
		return shown, nil // it is simulated
	}
	return shown, approveDestroy(ctx, s, d, terminal, w)
}

// question asks the user, if there is one.
type question struct {
	terminal prompt.Terminal
	possible bool
}

// approveUp previews everything, in one table, and asks once.
func approveUp(ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work, q question) (shown event.Summary, err error) {
	shown, err = preview(ctx, d, o, s, w)
	if err != nil {
		return shown, err
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
	yes, err := q.terminal.Confirm(ctx, fmt.Sprintf("Deploy this to the stack %s (%s)?", s.Settings.Stack.Text, shown.Changes.Words(operation.Preview)))
	if err == nil && !yes {
		err = &cmd.Declined{Text: "not confirmed; nothing was changed"}
	}
	return shown, err
}

// preview shows what up would do. It is no run of its own: only the screen and
// the caller learn of it.
func preview(ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work) (shown event.Summary, err error) {
	o.Operation = operation.Preview
	sinks := []event.Sink{&shown}
	var show cmd.Screen
	if o.Output != "json" {
		if show, _, err = newScreen(d, o, s, w, nil); err != nil {
			return shown, err
		}
		sinks = append(sinks, show)
	}
	emitter := event.NewEmitter(event.EmitterOptions{Run: s.Held.RunID, Masker: s.Masker, Now: d.Now, Sinks: sinks})
	err = walk(ctx, d, o, s, w, emitter.Emit)
	emitter.Close()
	if show == nil {
		return shown, err
	}
	_ = show.Close() // nobody reads any more
	if err != nil {
		err = &cmd.Reported{Code: cmd.ExitCode(err)}
	}
	return shown, err
}

// approveDestroy shows what will go and asks for the stack's name.
func approveDestroy(ctx context.Context, s *session.Session, d cmd.Deps, terminal prompt.Terminal, w work) error {
	stack := s.Settings.Stack.Text
	if err := listToDestroy(d.Stderr, s, w.plan); err != nil {
		return err
	}
	answer, err := terminal.Text(ctx, "Type the stack's name to go on:")
	if err != nil {
		return err
	}
	if answer != stack {
		return &cmd.Declined{Text: "not confirmed; nothing was changed"}
	}
	return nil
}

// listToDestroy lists what a destroy takes away.
func listToDestroy(w io.Writer, s *session.Session, p plan.Plan) error {
	fmt.Fprintf(w, "This destroys everything in these projects of %s, stack %s:\n", s.Provider.Name, s.Settings.Stack.Text)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, step := range p.Steps {
		if summary := s.Stacks.Summary(step.Project.Name); summary.Resources > 0 {
			fmt.Fprintf(table, "  %s\t%s\t%d resources\n", step.Project.Name, step.Project.Title, summary.Resources)
		}
	}
	return table.Flush()
}
