package operate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
)

// broken returns the projects whose preview breaks the rule. A partial preview of
// a deployed project breaks it too: what it does not show may be anything.
func (r Rule) broken(s *session.Reading, preview event.Summary) []string {
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
	return refusal.By(refusal.Question, prompt.NoTerminal(string(r.Operation)))
}

// Terminal returns the terminal to ask the user on; ok is false where that is not possible.
func (r Request) Terminal(d session.Deps) (t prompt.Terminal, ok bool) {
	t, ok = prompt.NewTerminal(d.Stdin, d.Stderr)
	return t, ok && r.Interactive
}

// approve asks for confirmation of an operation that changes resources. For an up it first shows the preview; for a
// destroy it asks for the stack's name.
func (j *job) approve(ctx context.Context) error {
	if len(j.w.plan.Steps) == 0 || j.s.Unchanged != nil {
		return nil
	}
	var found deployed
	if j.Operation.Deploys() || j.Operation.Destroys() {
		var err error
		if found, err = readDeployed(ctx, j.s.Reading, j.w.plan); err != nil {
			return err
		}
	}
	j.withCluster = found.withCluster()
	protected := found.protected()
	if j.Operation.Destroys() && len(protected) > 0 { // Pulumi would refuse it half way
		return RefuseProtected(protected, j.s.Command("pulumi PROJECT"))
	}
	terminal, canAsk := j.Terminal(j.d)
	switch {
	case j.NeedsApproval() && j.Operation.Deploys() && (canAsk || j.Approve != NoRule):
		return j.approveUp(ctx)
	case j.judges() || j.Operation.Deploys() && (j.isProtected(j.s.Resolved) || len(protected) > 0):
		seen, err := j.preview(ctx)
		if err != nil {
			return err
		}
		return j.confirmLosses(ctx, seen.losses)
	case !j.NeedsApproval() || j.Operation.Deploys(): // without a terminal, a simulated up needs no confirmation
		return nil
	}
	found.list(j.d.Stderr, j.s.Resolved, j.view.Width())
	answer, err := terminal.Text(ctx, "Type the stack's name to continue:")
	return refusal.By(refusal.Question, prompt.Agreed(answer == j.s.Settings.Stack.Text, err))
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
		broken = j.Approve.broken(j.s.Reading, j.before)
	}
	switch {
	case len(broken) == 0 && (j.Approve != NoRule || !j.before.Changes.Any()):
		return nil
	case !canAsk:
		text := "not approved by --auto-approve-if %s, because of %s; nothing was changed"
		declined := &prompt.Declined{Text: fmt.Sprintf(text, j.Approve, strings.Join(broken, ", "))}
		return refusal.By(refusal.AutoApprove, declined)
	}
	changes := j.before.Changes.Words(operation.Preview)
	text := fmt.Sprintf("Deploy this to the stack %s (%s)?", j.s.Settings.Stack.Text, changes)
	options := []prompt.Option{{Value: details, Note: "details"}}
	if !j.Targets.Any() && !j.Execution.Refresh { // a plan is about whole projects
		options = append(options, prompt.Option{Value: some, Note: "only some projects"}, prompt.Option{Value: save, Note: "save as a plan"})
	}
	for {
		answer, err := terminal.Decide(ctx, text, options...)
		switch {
		case err == nil && answer == details:
			fmt.Fprintln(j.d.Stderr, j.view.Details(&j.before))
		case err == nil && answer == some:
			return j.chooseSome(ctx, terminal)
		case err == nil && answer == save:
			return j.savePlan(ctx, terminal)
		default:
			return refusal.By(refusal.Question, prompt.Agreed(answer == prompt.Yes, err))
		}
	}
}

// Answers to the question of an up, besides yes and no.
const (
	details = "d"
	some    = "o"
	save    = "p"
)

// errOthersChosen has an up begin again, with a preview of the projects that the user has chosen at its question.
var errOthersChosen = errors.New("other projects were chosen")

// chooseSome asks which of the projects are to be deployed. What they need and is not deployed comes with them.
func (j *job) chooseSome(ctx context.Context, terminal prompt.Terminal) error {
	options := lists.Map(j.w.plan.Steps, func(step plan.Step) prompt.Option {
		option := prompt.Option{Value: step.Project.Name}
		if found, _ := j.before.Step(step.Project.Name); found != nil && found.Changes.Any() {
			option.Note = found.Changes.Words(operation.Preview)
		}
		return option
	})
	chosen, err := terminal.ChooseMany(ctx, prompt.Choice{Question: prompt.Question{Text: "Projects to deploy"}, Options: options})
	if err != nil {
		return err
	}
	only, err := j.withNeeds(chosen)
	if err != nil {
		return err
	}
	j.Selection = plan.Selection{Only: only}
	return errOthersChosen
}

// withNeeds adds to projects what they need and is not deployed, at any depth.
func (j *job) withNeeds(projects []string) ([]string, error) {
	selected, err := plan.Select(j.s.Plan, plan.Selection{Only: projects})
	if err != nil {
		return nil, err
	}
	if missing, ok := errors.AsType[*plan.ExcludedError](selected.CheckExcluded(j.s.Stacks.IsDeployed)); ok {
		for _, blocking := range missing.Projects {
			projects = append(projects, blocking.Project)
		}
	}
	return projects, nil
}

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
	_ = show.Close()                         // an error means that the terminal is gone
	if err == nil || forbidden(err) != nil { // a preview that failed says nothing of costs
		j.printConclusions()
	}
	if err != nil {
		err = errors.Join(&failure.Reported{Err: err}, forbidden(err))
	}
	return found, err
}
