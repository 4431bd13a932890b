package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/core/unchanged"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/machine/typeset"
)

// secondLook judges projects that were previewed with something else than what is there right before an up touches
// them: a partial preview did not know the outputs of owners, and a program or a file may have changed since. Such a
// project is previewed again. Nil judges nothing.
type secondLook struct {
	judge
	first map[string]updateplan.Project // what was approved, by project

	// suspend calls a function while the screen is not painted; nil without a terminal.
	suspend func(ask func())
	asking  sync.Mutex // one question at a time
}

// looks are what the projects of a preview depended on, by project. Previews run in parallel.
type looks struct {
	mu    sync.Mutex
	taken map[string]unchanged.Look
}

func (l *looks) add(project string, look unchanged.Look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken == nil {
		l.taken = map[string]unchanged.Look{}
	}
	l.taken[project] = look
}

func (l *looks) at(project string) unchanged.Look {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken[project]
}

// newSecondLook returns the second look of an up. It has previews only if a guard, a user
// or a protected resource needed them. It asks on the screen of the run, if that can be
// suspended.
func (j *job) newSecondLook(screen ui.Screen) *secondLook {
	if !j.Operation.Deploys() || j.s.Unchanged != nil {
		return nil
	}
	l := &secondLook{judge: judge{j}, first: map[string]updateplan.Project{}}
	for _, name := range j.w.plan.Names() {
		if previewed, ok := j.s.Stacks.Previewed(name); ok {
			l.first[name] = previewed
		}
	}
	if shown, ok := screen.(interface{ Suspend(ask func()) }); ok {
		l.suspend = shown.Suspend
	}
	return l
}

// changed returns what has changed in a project since it was previewed, in words.
func (l *secondLook) changed(known *unchanged.Projects, step plan.Step) []string {
	if l == nil {
		return nil
	}
	first, previewed := l.first[step.Project.Name]
	if !previewed {
		return nil
	}
	changed := known.ChangedSources(step, l.looked.at(step.Project.Name))
	if len(first.Unknown) > 0 && slices.Equal(changed, []string{unchanged.Incomparable}) {
		return nil // it is previewed again for the new outputs anyway, which are why it does something else
	}
	return changed
}

// isDue reports whether a project has to be previewed again. A partial preview of a project that is not deployed has
// nothing to lose: only rules and costs depend on it.
func (l *secondLook) isDue(project string, changed []string) bool {
	if l == nil {
		return false
	}
	first, previewed := l.first[project]
	partial := len(first.Unknown) > 0 && (l.judges() || l.s.Stacks.IsDeployed(project))
	return previewed && (partial || len(changed) > 0)
}

// check refuses a project whose second preview shows changes that were not approved.
func (l *secondLook) check(ctx context.Context, now updateplan.Project, changed []string, emit func(event.Event)) error {
	first := l.first[now.Name]
	if len(changed) > 0 {
		event.Say(emit, event.Warning, "changed since it was previewed: %s; previewed again", strings.Join(changed, ", "))
	} else {
		event.Say(emit, event.Info, "previewed again with the outputs of %s", strings.Join(first.Unknown, ", "))
	}
	consented, err := l.judgeLosses(ctx, first, now, changed, emit)
	if err == nil && !consented && len(changed) > 0 {
		err = l.judgeChanges(ctx, first, now, changed, emit)
	}
	if err != nil {
		return err
	}
	if !l.judges() {
		return nil
	}
	document := l.planDocument()
	for _, watch := range l.watches {
		err := watch.Again(ctx, now.Name, document, emit)
		if refused, ok := errors.AsType[*guard.Refused](err); ok {
			return &secondLookError{refused.By, refused.What, refused.Next, changed}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// judgeChanges asks about whatever a changed program would do that the approved preview did not show. Nobody has
// approved single changes with --yes, and a rule of --auto-approve-if approves all but losses.
func (l *secondLook) judgeChanges(
	ctx context.Context, first, now updateplan.Project, changed []string, emit func(event.Event),
) error {
	if !l.NeedsApproval() || l.Approve != NoRule {
		return nil
	}
	differences := first.Differences(now)
	if len(differences) == 0 {
		return nil
	}
	texts := lists.Map(differences, updateplan.Difference.String)
	what := typeset.Few(texts, 3)
	if agreed, err := l.ask(func(t prompt.Terminal) (bool, error) {
		return t.Confirm(ctx, fmt.Sprintf("%s has changed since it was shown (%s), and would now do: %s. Continue?",
			now.Name, strings.Join(changed, ", "), what))
	}); agreed || err != nil {
		return err
	}
	return l.refuseUnapproved(now.Name, what, changed, emit)
}

// judgeLosses asks about deletions and replacements that the first preview did not show, and returns whether somebody
// has consented to them. Without a terminal it refuses the ones that the protection forbids, and all of them if a user
// has approved the first preview. The losses of a changed program that nothing protects are left to judgeChanges, which
// asks about everything at once.
func (l *secondLook) judgeLosses(
	ctx context.Context, first, now updateplan.Project, changed []string, emit func(event.Event),
) (consented bool, err error) {
	added := addedLosses(first, now)
	if len(added) == 0 {
		return false, nil
	}
	losing := updateplan.Project{Name: now.Name, Title: now.Title, Steps: added}
	lost := l.lossesIn(updateplan.Document{Projects: []updateplan.Project{losing}}, emit)
	if lost.any() {
		if agreed, err := l.ask(func(t prompt.Terminal) (bool, error) {
			return askForStack(ctx, t, l.s.Settings.Stack.Text, lost)
		}); agreed || err != nil {
			return true, err
		}
		return false, l.refuse(now.Name, emit, lost.forbidLater(l.job, changed))
	}
	if !l.NeedsApproval() || len(changed) > 0 && l.Approve == NoRule {
		return false, nil
	}
	texts := lists.Map(added, func(step updateplan.Step) string { return step.Op + " of " + step.Type + " " + step.Name })
	losses := strings.Join(texts, ", ")
	if agreed, err := l.ask(func(t prompt.Terminal) (bool, error) {
		return t.Confirm(
			ctx, fmt.Sprintf("With its new inputs %s needs more than was shown: %s. Continue?", now.Name, losses),
		)
	}); agreed || err != nil {
		return true, err
	}
	return false, l.refuseUnapproved(now.Name, losses, changed, emit)
}

// refuseUnapproved refuses what the approved preview did not show.
func (l *secondLook) refuseUnapproved(project, what string, changed []string, emit func(event.Event)) error {
	return l.refuse(project, emit, &secondLookError{
		refusal.Approval, "the approval, which did not cover it: " + what,
		fmt.Sprintf("`%s` shows it and asks", next{l.job}.resume()), changed,
	})
}

// ask asks a question while the screen is not painted. Without a terminal, or if the run
// needed no approval, the answer is no.
func (l *secondLook) ask(question func(prompt.Terminal) (bool, error)) (agreed bool, err error) {
	terminal, canAsk := l.Terminal(l.d)
	if !canAsk || l.suspend == nil || !l.NeedsApproval() {
		return false, nil
	}
	l.asking.Lock()
	defer l.asking.Unlock()
	l.suspend(func() { agreed, err = question(terminal) })
	return agreed, err
}

// addedLosses returns the steps that replace or delete a resource in a later preview, and that the first one did not
// show: consent to a replacement is none to a deletion.
func addedLosses(first, later updateplan.Project) []updateplan.Step {
	type loss struct{ urn, op string }
	approved := map[loss]bool{}
	for _, step := range first.Steps {
		approved[loss{step.URN, step.Op}] = true
	}
	return slices.DeleteFunc(slices.Clone(later.Steps), func(step updateplan.Step) bool {
		return !step.IsLoss() || approved[loss{step.URN, step.Op}]
	})
}

// refuse emits why a project is refused, and returns it.
func (g judge) refuse(project string, emit func(event.Event), err *secondLookError) error {
	f := event.Finding{Rule: string(err.guard), Level: event.LevelDeny, Project: project, Message: err.what}
	g.emitFinding(emit, f, "")
	return err
}

// secondLookError says what a guard refuses in the second preview of a project.
type secondLookError struct {
	guard      refusal.Guard
	what, next string
	changed    []string // since the first preview; empty if only the outputs of owners are new
}

// firstLookError says what a guard refuses in the first preview of a project, which it makes during the run.
type firstLookError struct{ *secondLookError }

// Error says why, and what was changed.
func (e firstLookError) Error() string {
	return fmt.Sprintf("forbidden by %s; this project was not changed", e.what)
}

// Error says why, and what was changed.
func (e *secondLookError) Error() string {
	if len(e.changed) > 0 {
		return fmt.Sprintf("forbidden by %s; it has changed since it was previewed (%s); this project was not changed",
			e.what, strings.Join(e.changed, ", "))
	}
	return fmt.Sprintf("forbidden by %s; only the outputs of the projects before it have shown this; "+
		"this project was not changed", e.what)
}

// RefusedBy returns the guard.
func (e *secondLookError) RefusedBy() refusal.Guard { return e.guard }

// NextStep says what to do.
func (e *secondLookError) NextStep() string { return e.next }

// hold refuses a task that would do something else than was planned or approved. It
// previews the project again if a saved plan or the second look needs that: its inputs
// are known by now. Pulumi's own update plans cannot be used: they refuse
// values that a program generates, such as a password, and show them.
func (o operator) hold(ctx context.Context, task stacks.Task, emit func(event.Event)) error {
	name := task.Step.Project.Name
	planned, isHeld := o.planned(name)
	changed := o.again.changed(o.known, task.Step)
	due := o.again.isDue(name, changed)
	unseen := slices.ContainsFunc(o.watches, func(watch guard.Watch) bool { return watch.IsDue(task) }) || o.mayLoseCluster(task)
	if !isHeld && !due && !unseen {
		return nil
	}
	task.Operation, task.Record = operation.Preview, true
	task.Secrets = nil // it would read the state, which is about to change
	if _, err := o.s.Stacks.Operate(ctx, task, func(event.Event) {}); err != nil {
		return fmt.Errorf("previewing it with the current outputs of what it reads: %w", err)
	}
	now, ok := o.s.Stacks.Previewed(name)
	if !ok {
		return fmt.Errorf("the second preview of %s has found nothing to compare", name)
	}
	if isHeld {
		if err := (judge{o.job}).checkPlan(planned, now, emit); err != nil {
			return err
		}
	}
	if due {
		return o.again.check(ctx, now, changed, emit)
	}
	if unseen {
		return judge{o.job}.checkUnseen(now, emit)
	}
	return nil
}

// mayLoseCluster reports whether a task is a project of a user's own that has made a cluster, and that no preview has
// shown. A guard watches the clusters of the other projects.
func (o operator) mayLoseCluster(task stacks.Task) bool {
	name := task.Step.Project.Name
	_, previewed := o.s.Stacks.Previewed(name)
	return task.Operation.Deploys() && task.Step.Project.Own != nil && o.withCluster[name] && !previewed
}

// checkUnseen refuses losses that no preview has shown, unless --allow names them.
func (g judge) checkUnseen(now updateplan.Project, emit func(event.Event)) error {
	lost := g.lossesIn(updateplan.Document{Projects: []updateplan.Project{now}}, emit)
	if !lost.any() {
		return nil
	}
	refused := lost.forbidLater(g.job, nil)
	_ = g.refuse(now.Name, emit, refused)
	return firstLookError{refused}
}
