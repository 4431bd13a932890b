package policy

import (
	"context"
	"errors"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/updateplan"
)

// Guard makes the guard that applies the rules of a root.
func Guard(r guard.Request) (guard.Guard, error) {
	rules, err := Load(r.Root)
	return ruleGuard{rules: rules}, err
}

type ruleGuard struct {
	guard.Silent
	rules Set
}

// Judges implements guard.Guard.
func (g ruleGuard) Judges() bool { return g.rules.Active() }

// Open implements guard.Guard.
func (g ruleGuard) Open(_ context.Context, j guard.Job) (guard.Watch, error) {
	if !g.rules.Active() {
		return nil, nil
	}
	return &ruleWatch{Job: j, rules: g.rules}, nil
}

// ruleWatch applies rules to what previews of an operation find.
type ruleWatch struct {
	guard.Nothing
	guard.Job
	rules Set
	found []Finding // by Look
}

// Look implements guard.Watch.
func (w *ruleWatch) Look(ctx context.Context, document updateplan.Document, emit func(event.Event)) (err error) {
	w.found, err = w.findings(ctx, document, emit)
	return err
}

// Decide implements guard.Watch.
func (w *ruleWatch) Decide(func(event.Event)) error { return refuse(Denied(w.found)) }

// Again implements guard.Watch: it refuses a project that a rule denies with the real values.
func (w *ruleWatch) Again(
	ctx context.Context, project string, document updateplan.Document, emit func(event.Event),
) error {
	isAbout := func(name string) bool { return name == "" || name == project }
	found, err := w.findings(ctx, document, func(e event.Event) {
		if e.Finding != nil && e.Finding.Denies() && isAbout(e.Finding.Project) {
			emit(e)
		}
	})
	if err != nil {
		return err
	}
	return refuse(slices.DeleteFunc(Denied(found), func(f Finding) bool { return !isAbout(f.Project) }))
}

func refuse(denied []Finding) error {
	if len(denied) == 0 {
		return nil
	}
	return &guard.Refused{By: refusal.Rule, What: deniedText(denied), Next: exceptionAdvice}
}

// findings applies the rules to a document, and emits and returns what they find.
func (w *ruleWatch) findings(
	ctx context.Context, document updateplan.Document, emit func(event.Event),
) ([]Finding, error) {
	value, err := document.Value()
	if err != nil {
		return nil, err
	}
	s := w.Session
	environment := fleet.NewEnvironment(document.Stack, s.Provider.Name, s.Settings.Config, s.Settings.Described)
	findings, err := w.rules.Judge(ctx, value, Target{Stack: document.Stack, Labels: environment.Labels}, s.Deps.Now())
	if err != nil {
		w.emitBroken(emit, err)
		return nil, &guard.Refused{
			By:   refusal.Rule,
			What: err.Error(),
			Next: "fix the rule (docs/policies.md describes its input), or delete its file; a shipped one is switched off in " +
				SettingsFile,
		}
	}
	for _, f := range findings {
		w.Finding(emit, f.Event(), findingText(f))
	}
	return findings, nil
}

// emitBroken emits a rule that could not be applied, which forbids an up.
func (w *ruleWatch) emitBroken(emit func(event.Event), err error) {
	if broken, ok := errors.AsType[*RuleError](err); ok {
		f := event.Finding{Rule: broken.Rule, Level: event.LevelDeny, Message: broken.Error(), Line: 1}
		f.File = w.InRepository(broken.File)
		w.Finding(emit, f, "")
	}
}

// deniedText names the policies that forbid, and the projects that they are about.
func deniedText(denied []Finding) string {
	var parts []string
	for _, f := range denied {
		part := f.Rule
		if f.Project != "" {
			part += " (" + f.Project + ")"
		}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return "policy: " + strings.Join(parts, ", ")
}

// findingText says what a rule has found; the event names the project.
func findingText(f Finding) string {
	f.Project = ""
	switch {
	case f.Exception != "":
		return "policy " + f.String() + "; allowed: " + f.Exception
	case f.Level == Deny:
		return "policy DENIES " + f.String()
	}
	return "policy " + f.String()
}

const exceptionAdvice = "fix what they name, or write an exception with a reason and a last day into " +
	SettingsFile
