package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/feature/policy"
	"mara/runner/internal/feature/policy/cost"
	"mara/runner/internal/machine/failure"
)

// LoadGuards returns the guards of a request with the rules of its root, and with its prices if a preview is certain
// to need them.
func (r Request) LoadGuards() (g Guards, err error) {
	g = r.Guards
	if r.Root == "" || !r.previews() {
		return g, nil
	}
	if g.Rules, err = policy.Load(r.Root); err != nil {
		return g, err
	}
	r.Guards = g
	if !r.Yes || r.judges() || !r.Operation.Deploys() {
		prices, err := r.readPrices()
		g.Prices = &prices
		return g, err
	}
	return g, nil
}

// readPrices returns the prices, and reads them if that is still to be done.
func (r Request) readPrices() (cost.Sheet, error) {
	if r.Guards.Prices != nil {
		return *r.Guards.Prices, nil
	}
	sheet, err := cost.Load(r.Root)
	if err != nil {
		err = &failure.Environment{Text: err.Error(), Next: "docs/policies.md says how prices are written"}
	}
	return sheet, err
}

// assessment is what a preview has found.
type assessment struct {
	losses   losses
	estimate cost.Estimate
	plan     savedPlan
}

// judge applies the guards to what a preview has found.
type judge struct{ *job }

// assess applies protection, prices and rules at the end of a preview, and saves its plan.
func (g judge) assess(ctx context.Context, found *assessment, emit func(event.Event)) error {
	document := g.planDocument()
	g.reportLostCluster(emit)
	found.losses = g.lossesIn(document, emit)
	prices, err := g.prices()
	if err != nil {
		return err
	}
	var refused *forbiddenError
	if found.estimate, refused = g.estimateCosts(ctx, prices, document); refused != nil {
		return refused
	}
	for _, text := range prices.Unmatched(document) {
		emit(event.Event{Type: event.RunWarning, Message: text})
	}
	emit(event.Event{Type: event.RunCosts, Costs: &found.estimate.Costs})
	findings, err := g.findings(ctx, document, emit)
	if err != nil {
		return err
	}
	if err := g.Guards.checkCosts(found.estimate); err != nil {
		f := event.Finding{Rule: event.RuleMaxMonthly, Level: event.LevelDeny, Message: err.what}
		g.emitFinding(emit, f, "")
		return err
	}
	if denied := policy.Denied(findings); len(denied) > 0 {
		return &forbiddenError{deniedText(denied), exceptionAdvice}
	}
	found.plan = planFile(g).save(ctx, emit)
	return nil
}

// findings applies the rules to a document, and emits and returns what they find.
func (g judge) findings(
	ctx context.Context, document updateplan.Document, emit func(event.Event),
) ([]policy.Finding, error) {
	if !g.Guards.Rules.Active() {
		return nil, nil
	}
	value, err := document.Value()
	if err != nil {
		return nil, err
	}
	environment := fleet.NewEnvironment(document.Stack, g.s.Provider.Name, g.s.Settings.Config, g.s.Settings.Described)
	target := policy.Target{Stack: document.Stack, Labels: environment.Labels}
	findings, err := g.Guards.Rules.Judge(ctx, value, target, g.d.Now())
	if err != nil {
		g.emitBroken(emit, err)
		return nil, &forbiddenError{
			err.Error(),
			"fix the rule (docs/policies.md describes its input), or delete its file; a shipped one is switched off in " +
				policy.SettingsFile,
		}
	}
	for _, f := range findings {
		g.emitFinding(emit, f.Event(), findingText(f))
	}
	return findings, nil
}

// deniedText names the policies that forbid, and the projects that they are about.
func deniedText(denied []policy.Finding) string {
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
func findingText(f policy.Finding) string {
	f.Project = ""
	switch {
	case f.Exception != "":
		return "policy " + f.String() + "; allowed: " + f.Exception
	case f.Level == policy.Deny:
		return "policy DENIES " + f.String()
	}
	return "policy " + f.String()
}

// forbiddenError says that policies or prices forbid what was asked for.
type forbiddenError struct{ what, next string }

const exceptionAdvice = "fix what they name, or write an exception with a reason and a last day into " +
	policy.SettingsFile

// Error says why.
func (e *forbiddenError) Error() string {
	return fmt.Sprintf("forbidden by %s; nothing was changed", e.what)
}

// NextStep says what to do.
func (e *forbiddenError) NextStep() string { return e.next }

// forbidden returns the part of an error that no summary shows.
func forbidden(err error) error {
	if denied, ok := errors.AsType[*forbiddenError](err); ok {
		return denied
	}
	return nil
}
