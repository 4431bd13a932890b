package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/policy/bill"
	"mara/runner/internal/feature/policy/cost"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

func costsCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "costs", Usage: "estimate what the deployed resources cost a month", ArgsUsage: cmd.FleetArguments,
		Description: "Reads the states, and adds up what has a price in the sheet that ships with the runner and in\n" +
			cost.File + " at the root, as a preview does; see docs/policies.md. No preview is started, and no cloud is\n" +
			"asked. An environment that cannot be read hides no other, and ends with exit code 1.\n\n" +
			"Examples:\n  runner fleet costs\n  runner fleet costs -l stage=prod\n  runner fleet costs dev -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(flags([]cli.Flag{cmd.SimulateFlag("estimate the simulated environments")}),
			cmd.PulumiFlags()),
		Action: cmd.Action(d, parse, runCosts),
	}
}

func runCosts(ctx context.Context, d cmd.Deps, o options) (err error) {
	sheet, err := cost.Load(o.Root)
	if err != nil {
		return &failure.Environment{Text: err.Error(), Next: "docs/policies.md says how prices are written"}
	}
	reader := view.NewReader(d.Deps, o.Options)
	defer func() { err = errors.Join(err, reader.Close()) }()
	if err := reader.ReadFiles(o.Selection); err != nil {
		return err
	}
	names := lists.Map(reader.Fleet().Environments, func(e view.Environment) string { return e.Name })
	bills := bill.OfAll(ctx, d.Deps, reader.Options(), names, sheet)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := o.Show(d, bills, costsText(d, bills, o.Simulation.On)); err != nil {
		return err
	}
	if slices.ContainsFunc(bills, func(b bill.Environment) bool { return b.Error != "" }) {
		return cmd.Exit(cmd.ExitFailed)
	}
	return nil
}

func costsText(d cmd.Deps, bills []bill.Environment, simulated bool) string {
	if len(bills) == 0 {
		return ""
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "ENVIRONMENT", Min: 10, Middle: true},
		{Title: "A MONTH"}, {Title: "NOT COUNTED", Min: 20, Wrap: true}}}
	sum, currency, least := 0.0, "", false
	for _, b := range bills {
		if b.Costs == nil {
			table.Rows, least = append(table.Rows, []string{b.Environment, "unknown", b.Error}), true
			continue
		}
		sum, currency, least = sum+b.Costs.Monthly, b.Costs.Currency, least || b.IsPartial()
		amount := fmt.Sprintf("%.2f %s", b.Costs.Monthly, b.Costs.Currency)
		table.Rows = append(table.Rows, []string{b.Environment, amount, cmd.OrDash(strings.Join(b.Uncounted(), "; "))})
	}
	total := fmt.Sprintf("%.2f %s a month", sum, currency)
	if least {
		total = "at least " + total
	}
	text := fmt.Sprintf("%s\n%s: %s\n", table.Text(d.Width()), typeset.Counted(len(bills), "environment"), total)
	if simulated {
		text += "[SIMULATED: nothing is charged]\n"
	}
	return text
}
