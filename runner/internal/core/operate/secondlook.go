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
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/feature/policy"
	"mara/runner/internal/machine/prompt"
)

// secondLook judges projects whose preview was partial when it was approved. Right
// before an up touches such a project, the project is previewed again: its owners have
// been updated, so the values are real. Nil judges nothing.
type secondLook struct {
	judge
	first map[string]updateplan.Project // what was approved, by project; only partial previews

	// suspend calls a function while the screen is not painted; nil without a terminal.
	suspend func(ask func())
	asking  sync.Mutex // one question at a time
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
		if previewed, ok := j.s.Stacks.Previewed(name); ok && len(previewed.Unknown) > 0 {
			l.first[name] = previewed
		}
	}
	if shown, ok := screen.(interface{ Suspend(ask func()) }); ok {
		l.suspend = shown.Suspend
	}
	return l
}

// isDue reports whether a project has to be previewed again. A project that is not
// deployed has nothing to lose: only rules and costs depend on its preview.
func (l *secondLook) isDue(project string) bool {
	if l == nil {
		return false
	}
	_, partial := l.first[project]
	return partial && (l.judges() || l.s.Stacks.IsDeployed(project))
}

// check refuses a project whose second preview shows changes that were not approved.
func (l *secondLook) check(ctx context.Context, now updateplan.Project, emit func(event.Event)) error {
	first := l.first[now.Name]
	event.Say(emit, event.Info, "previewed again with the outputs of %s", strings.Join(first.Unknown, ", "))
	if err := l.judgeLosses(ctx, first, now, emit); err != nil {
		return err
	}
	if !l.judges() {
		return nil
	}
	document := l.planDocument()
	if err := l.judgeCosts(ctx, now.Name, document, emit); err != nil {
		return err
	}
	return l.judgeRules(ctx, now.Name, document, emit)
}

// judgeLosses asks about deletions and replacements that the first preview did not show.
// Without a terminal it refuses the ones that the protection forbids, and all of them if
// a user has approved the first preview.
func (l *secondLook) judgeLosses(
	ctx context.Context, first, now updateplan.Project, emit func(event.Event),
) error {
	added := addedLosses(first, now)
	if len(added) == 0 {
		return nil
	}
	losing := updateplan.Project{Name: now.Name, Title: now.Title, Steps: added}
	lost := l.lossesIn(updateplan.Document{Projects: []updateplan.Project{losing}}, emit)
	if lost.any() {
		if agreed, err := l.ask(func(t prompt.Terminal) (bool, error) {
			return askForStack(ctx, t, l.s.Settings.Stack.Text, lost)
		}); agreed || err != nil {
			return err
		}
		return l.refuse(event.RuleProtection, now.Name, emit, lost.forbidLater(l.job))
	}
	if !l.NeedsApproval() {
		return nil
	}
	texts := lists.Map(added, func(step updateplan.Step) string { return step.Op + " of " + step.Type + " " + step.Name })
	losses := strings.Join(texts, ", ")
	if agreed, err := l.ask(func(t prompt.Terminal) (bool, error) {
		return t.Confirm(
			ctx, fmt.Sprintf("With its new inputs %s needs more than was shown: %s. Continue?", now.Name, losses),
		)
	}); agreed || err != nil {
		return err
	}
	return l.refuse(event.RuleApproval, now.Name, emit, &secondLookError{
		"the approval, which did not cover it: " + losses,
		fmt.Sprintf("`%s` shows it and asks", next{l.job}.resume()),
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

// addedLosses returns the steps that replace or delete a resource in a later preview
// and did neither in the first.
func addedLosses(first, later updateplan.Project) []updateplan.Step {
	approved := map[string]bool{}
	for _, step := range first.Steps {
		approved[step.URN] = approved[step.URN] || step.IsLoss()
	}
	return slices.DeleteFunc(slices.Clone(later.Steps), func(step updateplan.Step) bool {
		return !step.IsLoss() || approved[step.URN]
	})
}

// judgeCosts refuses a project with which the environment costs more than the limit.
func (l *secondLook) judgeCosts(
	ctx context.Context, project string, document updateplan.Document, emit func(event.Event),
) error {
	if l.Guards.MaxMonthly == nil {
		return nil
	}
	prices, err := l.prices()
	if err != nil {
		return err
	}
	estimate, refused := l.estimateCosts(ctx, prices, document)
	if refused == nil {
		refused = l.Guards.checkCosts(estimate)
	}
	if refused != nil {
		return l.refuse(event.RuleMaxMonthly, project, emit, &secondLookError{refused.what, refused.next})
	}
	return nil
}

// judgeRules refuses a project that a rule denies with the real values.
func (l *secondLook) judgeRules(
	ctx context.Context, project string, document updateplan.Document, emit func(event.Event),
) error {
	isAbout := func(name string) bool { return name == "" || name == project }
	findings, err := l.findings(ctx, document, func(e event.Event) {
		if e.Finding != nil && e.Finding.Denies() && isAbout(e.Finding.Project) {
			emit(e)
		}
	})
	if refused, ok := errors.AsType[*forbiddenError](err); ok {
		return &secondLookError{refused.what, refused.next}
	}
	if err != nil {
		return err
	}
	isAboutOthers := func(f policy.Finding) bool { return !isAbout(f.Project) }
	denied := slices.DeleteFunc(policy.Denied(findings), isAboutOthers)
	if len(denied) > 0 {
		return &secondLookError{deniedText(denied), exceptionAdvice}
	}
	return nil
}

// refuse emits why a project is refused, and returns it.
func (g judge) refuse(rule, project string, emit func(event.Event), err *secondLookError) error {
	f := event.Finding{Rule: rule, Level: event.LevelDeny, Project: project, Message: err.what}
	g.emitFinding(emit, f, "")
	return err
}

// secondLookError says what a guard refuses in the second preview of a project.
type secondLookError struct{ what, next string }

// firstLookError says what a guard refuses in the first preview of a project, which it makes during the run.
type firstLookError struct{ *secondLookError }

// Error says why, and what was changed.
func (e firstLookError) Error() string {
	return fmt.Sprintf("forbidden by %s; this project was not changed", e.what)
}

// Error says why, and what was changed.
func (e *secondLookError) Error() string {
	return fmt.Sprintf("forbidden by %s; only the outputs of the projects before it have shown this; "+
		"this project was not changed", e.what)
}

// NextStep says what to do.
func (e *secondLookError) NextStep() string { return e.next }

// hold refuses a task that would do something else than was planned or approved. It
// previews the project again if a saved plan or the second look needs that: its inputs
// are known by now. Pulumi's own update plans cannot be used: they refuse
// values that a program generates, such as a password, and show them.
func (o operator) hold(ctx context.Context, task stacks.Task, emit func(event.Event)) error {
	name := task.Step.Project.Name
	planned, isHeld := o.planned(name)
	due, losesCluster := o.again.isDue(name), o.cluster.isDue(task)
	if !isHeld && !due && !losesCluster {
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
		return o.again.check(ctx, now, emit)
	}
	if losesCluster {
		return o.cluster.check(now, emit)
	}
	return nil
}
