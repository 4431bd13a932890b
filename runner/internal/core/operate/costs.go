package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/feature/policy/bill"
	"mara/runner/internal/feature/policy/cost"
	"mara/runner/internal/machine/typeset"
)

// estimateCosts adds up what has a price.
func (g judge) estimateCosts(
	ctx context.Context, prices cost.Sheet, document updateplan.Document,
) (cost.Estimate, *forbiddenError) {
	estimate, err := prices.Of(ctx, document, func(name string) string { return bill.DefaultRegion(g.s, name) })
	if err != nil {
		return estimate, &forbiddenError{err.Error(), "fix the price in " + cost.File}
	}
	estimate.Outside = deployedOutside(g.s, g.w.plan)
	return estimate, nil
}

// deployedOutside returns the projects of the environment that are deployed and do not take part in the run, also
// projects that a condition skips here.
func deployedOutside(s *session.Session, p plan.Plan) []string {
	takePart := p.Names()
	return slices.DeleteFunc(s.Scope().Projects, func(name string) bool {
		return slices.Contains(takePart, name) || s.Stacks.Summary(name).Resources == 0
	})
}

// checkCosts forbids what costs more than the limit, and what may do so because a price is not known.
func (g Guards) checkCosts(estimate cost.Estimate) *forbiddenError {
	if g.MaxMonthly == nil {
		return nil
	}
	limit := fmt.Sprintf("--max-monthly %g", *g.MaxMonthly)
	if !(estimate.Monthly <= *g.MaxMonthly) { // also for what is not a number
		return &forbiddenError{fmt.Sprintf("%s: it costs %s", limit, estimate), "choose less or smaller, or allow more"}
	}
	if uncounted := estimate.Uncounted(); len(uncounted) > 0 && !g.UnknownOK {
		return &forbiddenError{
			fmt.Sprintf("%s: not all costs are known: %s", limit, strings.Join(uncounted, "; ")),
			fmt.Sprintf("write the prices into %s, or add --unknown-costs allow to count only what has a price", cost.File),
		}
	}
	return nil
}

// printCosts prints after a preview what the environment costs, and what is not counted.
func (j *job) printCosts(estimate cost.Estimate) {
	if j.view.JSON || estimate.Items == nil { // not estimated
		return
	}
	text := "Costs " + estimate.String() + "."
	if j.Simulation.On {
		text += " [SIMULATED: nothing is charged]"
	}
	fmt.Fprintln(j.view.Stdout, "\n"+typeset.Wrap(text, j.view.Width(), 2))
}
