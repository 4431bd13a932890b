package configuration

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

func diffCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "compare the values and deployed resources of two environments",
		ArgsUsage: "ENVIRONMENT ENVIRONMENT",
		Description: "Shows the values that differ, with their origins. A key that is not set has its default. If " +
			"both environments are deployed, it also shows different outputs, and different numbers of resources by " +
			"type. Secrets are never shown, and encrypted values are not compared.\n\n" +
			"Examples:\n  runner config diff test prod\n  runner config diff eu-1 eu-2 --simulate\n" +
			"  runner config diff eu-1 eu-2 -o json --exit-code\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitChanges),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.BoolFlag{Name: "exit-code", Usage: "exit with code 5 if there are differences"},
				cmd.SimulateFlag("compare the simulated environments"),
			},
			cmd.OutputFlag("text", "json"), cmd.RootFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parse, runDiff),
	}
}

func runDiff(ctx context.Context, d cmd.Deps, o options) error {
	if len(o.Args) != 2 {
		return failure.Usagef("config diff", "name two environments")
	}
	if o.Root != "" {
		if err := CheckEnvironments("config diff", o.Request, o.Args...); err != nil {
			return err
		}
	}
	found, err := view.Compare(ctx, d.Deps, o.Options, o.Args[0], o.Args[1])
	if err != nil {
		return err
	}
	err = o.Show(d, found, differencesText(found, d.Width()))
	if err == nil && o.ExitCode && found.Any() {
		err = cmd.Exit(cmd.ExitChanges)
	}
	return err
}

func differencesText(x view.Differences, width int) string {
	if !x.Any() {
		what := "no value"
		if x.Deployed {
			what = "neither values nor deployed resources"
		}
		return fmt.Sprintf("%s and %s: %s differ\n", x.A, x.B, what)
	}
	a, b := typeset.Column{Title: x.A, Min: 12, Wrap: true}, typeset.Column{Title: x.B, Min: 12, Wrap: true}
	values := typeset.Table{Columns: []typeset.Column{{Title: "KEY"}, a, b}}
	for _, v := range x.Values {
		values.Rows = append(values.Rows, []string{v.Key, v.A.OrDash(), v.B.OrDash()})
	}
	outputs := typeset.Table{Columns: []typeset.Column{{Title: "OUTPUT"}, a, b}}
	for _, v := range x.Outputs {
		outputs.Rows = append(outputs.Rows, []string{v.Project + "/" + v.Name, shownOutput(v.A), shownOutput(v.B)})
	}
	resources := typeset.Table{Columns: []typeset.Column{{Title: "RESOURCES"}, {Title: "TYPE", Min: 12}, {Title: x.A},
		{Title: x.B}}}
	for _, v := range x.Resources {
		resources.Rows = append(resources.Rows, []string{v.Project, v.Type, strconv.Itoa(v.A), strconv.Itoa(v.B)})
	}
	var texts []string
	for _, table := range []typeset.Table{values, outputs, resources} {
		if len(table.Rows) > 0 {
			texts = append(texts, table.Text(width))
		}
	}
	return strings.Join(texts, "\n")
}

func shownOutput(value any) string {
	if value == nil {
		return "-"
	}
	return typeset.Value(value)
}
