package operate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
)

// broken returns the projects whose preview breaks the rule. A partial preview of
// a deployed project breaks it too: what it does not show may be anything.
func (r Rule) broken(s *session.Session, preview event.Summary) []string {
	var names []string
	for _, step := range preview.Steps {
		goes := step.Changes.Replace > 0 || r == NoDeletes && step.Changes.Delete > 0
		if goes || len(step.Unknown) > 0 && s.Stacks.IsDeployed(step.Name) {
			names = append(names, step.Name)
		}
	}
	return names
}

// CheckConsent refuses an operation that needs confirmation without a terminal, before anything is opened. --yes and
// rules replace the confirmation; a simulated up needs none.
func (r Request) CheckConsent(d session.Deps) error {
	_, canAsk := r.Terminal(d)
	decides := r.Operation.Deploys() && (r.Approve != NoRule || r.Simulation.On)
	if !r.NeedsApproval() || canAsk || decides {
		return nil
	}
	return prompt.NoTerminal(string(r.Operation))
}

// Terminal returns the terminal to ask the user on; ok is false where that is not possible.
func (r Request) Terminal(d session.Deps) (t prompt.Terminal, ok bool) {
	t, ok = prompt.NewTerminal(d.Stdin, d.Stderr)
	return t, ok && r.Interactive
}

// approve asks for confirmation of an operation that changes resources. For an up it first shows the preview; for a
// destroy it asks for the stack's name.
func (j *job) approve(ctx context.Context) (err error) {
	defer func() { j.reportRefused(err) }()
	if len(j.w.plan.Steps) == 0 || j.s.Unchanged != nil {
		return nil
	}
	var found deployed
	if j.Operation.Deploys() || j.Operation.Destroys() {
		if found, err = readDeployed(ctx, j.s, j.w.plan); err != nil {
			return err
		}
	}
	protected := found.protected()
	if j.Operation.Destroys() && len(protected) > 0 { // Pulumi would refuse it half way
		return RefuseProtected(protected, j.s.Command("pulumi PROJECT"))
	}
	terminal, canAsk := j.Terminal(j.d)
	switch {
	case j.NeedsApproval() && j.Operation.Deploys() && (canAsk || j.Approve != NoRule):
		return j.approveUp(ctx)
	case j.judges() || j.Operation.Deploys() && (j.isProtected(j.s) || len(protected) > 0):
		seen, err := j.preview(ctx)
		if err != nil {
			return err
		}
		return j.confirmLosses(ctx, seen.losses)
	case !j.NeedsApproval() || j.Operation.Deploys(): // without a terminal, a simulated up needs no confirmation
		return nil
	}
	found.list(j.d.Stderr, j.s, j.view.Width())
	answer, err := terminal.Text(ctx, "Type the stack's name to continue:")
	return prompt.Agreed(answer == j.s.Settings.Stack.Text, err)
}

// approveUp shows a preview of all projects and asks once.
func (j *job) approveUp(ctx context.Context) error {
	seen, err := j.preview(ctx)
	if err != nil {
		return err
	}
	if err = j.confirmLosses(ctx, seen.losses); err != nil || seen.losses.any() {
		return err // typing the name was the approval
	}
	terminal, canAsk := j.Terminal(j.d)
	var broken []string
	if j.Approve != NoRule {
		broken = j.Approve.broken(j.s, j.before)
	}
	switch {
	case len(broken) == 0 && (j.Approve != NoRule || !j.before.Changes.Any()):
		return nil
	case !canAsk:
		text := "not approved by --auto-approve-if %s, because of %s; nothing was changed"
		return &prompt.Declined{Text: fmt.Sprintf(text, j.Approve, strings.Join(broken, ", "))}
	}
	changes := j.before.Changes.Words(operation.Preview)
	text := fmt.Sprintf("Deploy this to the stack %s (%s)?", j.s.Settings.Stack.Text, changes)
	for {
		answer, err := terminal.Decide(ctx, text, prompt.Option{Value: details, Note: "details"},
			prompt.Option{Value: save, Note: "save as a plan"})
		switch {
		case err == nil && answer == details:
			fmt.Fprintln(j.d.Stderr, j.view.Details(&j.before))
		case err == nil && answer == save:
			return j.savePlan(ctx, terminal)
		default:
			return prompt.Agreed(answer == prompt.Yes, err)
		}
	}
}

// Answers to the question of an up, besides yes and no.
const (
	details = "d"
	save    = "p"
)

// errPlanSaved ends an up whose preview was saved as a plan, instead of being carried out.
var errPlanSaved = errors.New("the preview was saved as a plan")

// savePlan saves what the preview has shown as a plan, in a file that it asks for.
func (j *job) savePlan(ctx context.Context, terminal prompt.Terminal) error {
	known := j.newUnchanged()
	for _, step := range j.w.plan.Steps {
		name := step.Project.Name
		if changed := known.ChangedSources(step, j.looked.at(name)); len(changed) > 0 {
			return &failure.Environment{
				Text: fmt.Sprintf("%s has changed since it was previewed (%s); nothing was changed, and no plan was written",
					name, strings.Join(changed, ", ")),
				Next: "look again with `" + next{j}.preview() + "`",
			}
		}
	}
	file, err := terminal.Ask(ctx, prompt.Question{
		Text: "File of the plan", Default: j.s.Settings.Stack.Text + ".plan.json",
		Check: func(name string) error {
			if _, err := os.Lstat(j.d.Absolute(strings.TrimSpace(name))); err == nil {
				return errors.New("this file exists already")
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	j.Operation, j.Plan.Save = operation.Preview, j.d.Absolute(file) // as if a preview had been asked for
	saved := planFile{j}.save(ctx, func(e event.Event) {
		if e.Type == event.RunWarning {
			fmt.Fprintf(j.d.Stderr, "warning: %s: %s\n", e.Project, e.Message)
		}
	})
	if err := (planFile{j}).print(saved); err != nil {
		return err
	}
	j.before.SavedPlan = &event.SavedPlan{File: j.Plan.Save, Digest: saved.digest}
	for _, command := range (next{j}).steps(&j.before) {
		fmt.Fprintln(j.view.Stdout, "Next: "+command)
	}
	return errPlanSaved
}

// preview shows what up would do, without recording a run, and keeps its summary.
func (j *job) preview(ctx context.Context) (found assessment, err error) {
	sinks := []event.Sink{&j.before}
	var show ui.Screen
	expected := j.expected(operation.Preview)
	if !j.view.JSON {
		show, _ = j.view.NewScreen(expected)
		sinks = append(sinks, show)
	}
	emitter := event.NewEmitter(event.EmitterOptions{Run: j.s.Held.RunID, Masker: j.s.Masker, Now: j.d.Now, Sinks: sinks})
	found, err = j.walk(ctx, operation.Preview, expected, checks{}, emitter.Emit)
	emitter.Close()
	if show == nil {
		return found, err
	}
	_ = show.Close() // an error means that the terminal is gone
	j.printConclusions()
	if err != nil {
		err = errors.Join(&failure.Reported{Err: err}, forbidden(err))
	}
	return found, err
}
