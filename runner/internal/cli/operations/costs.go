package operations

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/guard/cost"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/run/event"
)

// The values of --unknown-costs.
const (
	denyUnknownCosts  = "deny"
	allowUnknownCosts = "allow"
)

func maxMonthlyFlag() cli.Flag {
	return &cli.Float64Flag{
		Name:        "max-monthly",
		Usage:       "forbid what costs more than `AMOUNT` a month, or what has no known price: see --unknown-costs",
		DefaultText: "no limit",
	}
}

func unknownCostsFlag() cli.Flag {
	return &cli.GenericFlag{
		Name:  "unknown-costs",
		Value: &cmd.Choice{Allowed: []string{denyUnknownCosts, allowUnknownCosts}, Value: denyUnknownCosts},
		Usage: "with --max-monthly: `WHAT` to do where a price is not known: deny, or allow, which counts what has a price",
	}
}

// parseCosts reads the limit of what an environment may cost. A limit of 0 is one, too.
func (o *planOptions) parseCosts(c *cli.Context) error {
	if !c.IsSet("max-monthly") {
		return nil
	}
	limit := c.Float64("max-monthly")
	if limit < 0 {
		return failure.Usagef(c.Command.Name, "--max-monthly: %v is less than 0", limit)
	}
	o.maxMonthly, o.unknownOK = &limit, cmd.Chosen(c, "unknown-costs") == allowUnknownCosts
	return nil
}

// estimateCosts adds up what has a price, and emits it with the reasons why the rest is not counted.
func (o operateOptions) estimateCosts(
	ctx context.Context, s *session.Session, w work, document updateplan.Document, emit func(event.Event),
) (cost.Estimate, error) {
	estimate, err := o.prices.Of(ctx, document, func(name string) string { return defaultRegion(s, name) })
	if err != nil {
		return estimate, &forbiddenError{err.Error(), "fix the price in " + cost.File}
	}
	estimate.Outside = deployedOutside(s, w)
	for _, text := range o.prices.Unmatched(document) {
		emit(event.Event{Type: event.RunWarning, Message: text})
	}
	emit(event.Event{Type: event.RunCosts, Costs: &estimate.Costs})
	return estimate, nil
}

// defaultRegion returns where the default provider of a package works: the configuration, then for AWS the
// variables that its SDK reads. A region in a profile is not known.
func defaultRegion(s *session.Session, name string) string {
	if region := s.Settings.Config.Text(name + ":region").Text; region != "" || name != "aws" {
		return region
	}
	environ := s.Settings.Environ()
	if region := environ["AWS_REGION"]; region != "" {
		return region
	}
	return environ["AWS_DEFAULT_REGION"]
}

// deployedOutside returns the projects of the environment that are deployed and do not take part in the run, also
// projects that a condition skips here.
func deployedOutside(s *session.Session, w work) []string {
	takesPart := map[string]bool{}
	for _, name := range w.plan.Names() {
		takesPart[name] = true
	}
	var names []string
	for _, name := range s.Scope().Projects {
		if !takesPart[name] && s.Stacks.Summary(name).Resources > 0 {
			names = append(names, name)
		}
	}
	return names
}

// checkCosts forbids what costs more than the limit, and what may do so because a price is not known.
func (o operateOptions) checkCosts() *forbiddenError {
	if o.maxMonthly == nil {
		return nil
	}
	limit := fmt.Sprintf("--max-monthly %g", *o.maxMonthly)
	if o.estimate.Monthly > *o.maxMonthly {
		return &forbiddenError{fmt.Sprintf("%s: it costs %s", limit, o.estimate), "choose less or smaller, or allow more"}
	}
	if uncounted := o.estimate.Uncounted(); len(uncounted) > 0 && !o.unknownOK {
		return &forbiddenError{
			fmt.Sprintf("%s: not all costs are known: %s", limit, strings.Join(uncounted, "; ")),
			fmt.Sprintf("write the prices into %s, or add --unknown-costs allow to count only what has a price", cost.File),
		}
	}
	return nil
}

// printCosts prints after a preview what the environment costs, and what is not counted.
func printCosts(d cmd.Deps, o operateOptions) {
	if o.Output == "json" || o.Operation != operation.Preview || o.estimate.Items == nil { // not estimated
		return
	}
	text := "Costs " + o.estimate.String() + "."
	if o.Simulation.On {
		text += " [SIMULATED: nothing is charged]"
	}
	fmt.Fprintln(d.Stdout, "\n"+typeset.Wrap(text, d.Width(), 2))
}
