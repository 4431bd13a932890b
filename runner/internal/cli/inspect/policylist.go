package inspect

import (
	"context"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/typeset"
)

func policyListCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list the rules",
		Description: "Lists the rules of the root and the rules that ship with the runner, and shows which are enabled.\n\n" +
			"Examples:\n  runner policy list\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("table", "json"), cmd.RootFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.Parse, runPolicyList),
	}
}

func runPolicyList(_ context.Context, d cmd.Deps, o cmd.Common) error {
	set, err := loadPolicies(o.Root, o.NoRoot)
	if err != nil {
		return err
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "RULE"}, {Title: "STATE"},
		{Title: "SUMMARY", Min: 20, Wrap: true}}}
	for _, rule := range set.Rules {
		state := "off"
		if rule.On {
			state = "on"
		}
		table.Rows = append(table.Rows, []string{rule.Name, state, rule.Summary})
	}
	return o.Show(d, set.Rules, table.Text(d.Width()))
}
