package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/fleet"
	"mara/runner/internal/guard/cost"
	"mara/runner/internal/guard/policy"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/run/event"
)

// loadGates reads the rules of the root and the prices, which judge an up.
func loadGates(o *operateOptions) (err error) {
	if o.Root == "" || !o.previews() {
		return nil
	}
	if o.rules, err = policy.Load(o.Root); err != nil {
		return err
	}
	if o.Yes && !o.judges() && o.Operation.Deploys() {
		return nil // judge loads the prices where the protection needs a preview
	}
	return o.loadPrices()
}

// loadPrices reads the prices once.
func (o *operateOptions) loadPrices() (err error) {
	if o.prices.Types != nil {
		return nil
	}
	if o.prices, err = cost.Load(o.Root); err != nil {
		return &failure.Environment{Text: err.Error(), Next: "docs/policies.md says how prices are written"}
	}
	return nil
}

// previews reports whether the operation is a preview, or begins with one.
func (o operateOptions) previews() bool {
	return o.Operation == operation.Preview || o.Operation.Deploys()
}

// judges reports whether rules, costs or a policy pack may forbid an up, which then previews first.
func (o operateOptions) judges() bool {
	return o.Operation.Deploys() && (o.rules.Active() || o.maxMonthly != nil || len(o.packs) > 0)
}

// judge returns the end of a preview, which applies the rules and the prices.
func (o operateOptions) judge(
	ctx context.Context, d cmd.Deps, s *session.Session, w work, emit func(event.Event),
) func() error {
	if o.Operation != operation.Preview {
		return nil
	}
	return func() error {
		document := planDocument(d, o, s, w)
		*o.losses = o.lossesIn(s, document, emit)
		err := o.loadPrices()
		if err != nil {
			return err
		}
		if *o.estimate, err = o.estimateCosts(ctx, s, w, document, emit); err != nil {
			return err
		}
		findings, err := o.findings(ctx, document, d, s, emit)
		if err != nil {
			return err
		}
		if err := o.checkCosts(); err != nil {
			f := event.Finding{Rule: event.RuleMaxMonthly, Level: event.LevelDeny, Message: err.what}
			o.emitFinding(s, emit, f, "")
			return err
		}
		if denied := policy.Denied(findings); len(denied) > 0 {
			return &forbiddenError{deniedText(denied), exceptionAdvice}
		}
		savePlan(ctx, d, o, s, w, emit)
		return nil
	}
}

// findings applies the rules to a document, and emits and returns what they find.
func (o operateOptions) findings(
	ctx context.Context, document updateplan.Document, d cmd.Deps, s *session.Session, emit func(event.Event),
) ([]policy.Finding, error) {
	if !o.rules.Active() {
		return nil, nil
	}
	value, err := document.Value()
	if err != nil {
		return nil, err
	}
	environment := fleet.NewEnvironment(document.Stack, s.Provider.Name, s.Settings.Config, s.Settings.Described)
	findings, err := o.rules.Judge(ctx, value, policy.Target{Stack: document.Stack, Labels: environment.Labels}, d.Now())
	if err != nil {
		o.emitBroken(s, emit, err)
		return nil, &forbiddenError{
			err.Error(),
			"fix the rule (docs/policies.md describes its input), or delete its file; a shipped one is switched off in " +
				policy.SettingsFile,
		}
	}
	for _, f := range findings {
		o.emitFinding(s, emit, f.Event(), findingText(f))
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
	var denied *forbiddenError
	if errors.As(err, &denied) {
		return denied
	}
	return nil
}
