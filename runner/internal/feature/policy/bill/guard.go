package bill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/feature/policy/cost"
	"mara/runner/internal/machine/failure"
)

// Guard makes the guard that says what an environment costs, and holds it against a limit.
func Guard(r guard.Request) (guard.Guard, error) {
	return costGuard{Limits: r.Limits, prices: sync.OnceValues(func() (cost.Sheet, error) {
		sheet, err := cost.Load(r.Root)
		if err != nil {
			err = &failure.Environment{Text: err.Error(), Next: "docs/policies.md says how prices are written"}
		}
		return sheet, err
	})}, nil
}

// costGuard reads the prices once, when they are needed.
type costGuard struct {
	guard.Silent
	guard.Limits
	prices func() (cost.Sheet, error)
}

// Judges implements guard.Guard.
func (g costGuard) Judges() bool { return g.MaxMonthly != nil }

// Prepare implements guard.Guard.
func (g costGuard) Prepare() error {
	_, err := g.prices()
	return err
}

// Open implements guard.Guard.
func (g costGuard) Open(_ context.Context, j guard.Job) (guard.Watch, error) {
	return &costWatch{g: g, Job: j}, nil
}

// costWatch estimates the costs of what previews of an operation find.
type costWatch struct {
	guard.Nothing
	guard.Job
	g        costGuard
	estimate cost.Estimate // by Look
}

// Look implements guard.Watch.
func (w *costWatch) Look(ctx context.Context, document updateplan.Document, emit func(event.Event)) error {
	prices, err := w.g.prices()
	if err != nil {
		return err
	}
	if w.estimate, err = w.estimateOf(ctx, prices, document); err != nil {
		return err
	}
	for _, text := range prices.Unmatched(document) {
		emit(event.Event{Type: event.RunWarning, Message: text})
	}
	emit(event.Event{Type: event.RunCosts, Costs: &w.estimate.Costs})
	return nil
}

// Decide implements guard.Watch.
func (w *costWatch) Decide(emit func(event.Event)) error {
	return w.refuse("", w.g.check(w.estimate), emit)
}

// Again implements guard.Watch: it refuses a project with which the environment costs more than the limit.
func (w *costWatch) Again(
	ctx context.Context, project string, document updateplan.Document, emit func(event.Event),
) error {
	if w.g.MaxMonthly == nil {
		return nil
	}
	prices, err := w.g.prices()
	if err != nil {
		return err
	}
	estimate, err := w.estimateOf(ctx, prices, document)
	if err == nil {
		err = w.g.check(estimate)
	}
	return w.refuse(project, err, emit)
}

// Conclusion implements guard.Watch.
func (w *costWatch) Conclusion() string {
	if len(w.estimate.Items) == 0 && w.estimate.Change == 0 && w.g.MaxMonthly == nil {
		return "" // not estimated, or nothing has a price, and nobody has asked
	}
	text := "Costs " + w.estimate.String() + "."
	if w.Session.Options.Simulation.On {
		text += " [SIMULATED: nothing is charged]"
	}
	return text
}

// estimateOf adds up what has a price.
func (w *costWatch) estimateOf(
	ctx context.Context, prices cost.Sheet, document updateplan.Document,
) (cost.Estimate, error) {
	estimate, err := prices.Of(ctx, document, func(name string) string { return DefaultRegion(w.Session.Resolved, name) })
	if err != nil {
		return estimate, &guard.Refused{By: refusal.MaxMonthly, What: err.Error(), Next: "fix the price in " + cost.File}
	}
	estimate.Outside = deployedOutside(w.Session.Reading, w.Plan)
	return estimate, nil
}

// refuse emits a refusal, and returns it.
func (w *costWatch) refuse(project string, err error, emit func(event.Event)) error {
	if refused, ok := errors.AsType[*guard.Refused](err); ok {
		f := event.Finding{Rule: string(refusal.MaxMonthly), Level: event.LevelDeny, Project: project, Message: refused.What}
		w.Finding(emit, f, "")
	}
	return err
}

// deployedOutside returns the projects of the environment that are deployed and do not take part in the run, also
// projects that a condition skips here.
func deployedOutside(s *session.Reading, p plan.Plan) []string {
	takePart := p.Names()
	return slices.DeleteFunc(s.Scope().Projects, func(name string) bool {
		return slices.Contains(takePart, name) || s.Stacks.Summary(name).Resources == 0
	})
}

// check forbids what costs more than the limit, and what may do so because a price is not known.
func (g costGuard) check(estimate cost.Estimate) error {
	if g.MaxMonthly == nil {
		return nil
	}
	limit := fmt.Sprintf("--max-monthly %g", *g.MaxMonthly)
	if !(estimate.Monthly <= *g.MaxMonthly) { // also for what is not a number
		return &guard.Refused{
			By:   refusal.MaxMonthly,
			What: fmt.Sprintf("%s: it costs %s", limit, estimate), Next: "choose less or smaller, or allow more",
		}
	}
	if uncounted := estimate.Uncounted(); len(uncounted) > 0 && !g.UnknownOK {
		return &guard.Refused{
			By:   refusal.MaxMonthly,
			What: fmt.Sprintf("%s: not all costs are known: %s", limit, strings.Join(uncounted, "; ")),
			Next: fmt.Sprintf("write the prices into %s, or add --unknown-costs allow to count only what has a price", cost.File),
		}
	}
	return nil
}
