package operations

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/typeset"
)

func hookListCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the hooks of an environment",
		Description: "Shows the hooks of each project and of the run: when they run, and for which operations.\n\n" +
			"Examples:\n  runner hook list -s dev\n  runner hook list -s dev -p kind\n" +
			"  runner hook list -s dev -o json\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("text", "json"), cmd.EnvironmentFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.Parse, cmd.InSession(session.Resolve, runHookList)),
	}
}

// hookLine is a hook in a list, and its JSON form.
type hookLine struct {
	Project    string                `json:"project"` // "run" for a hook of the run
	Hook       string                `json:"hook"`
	On         model.Moment          `json:"on"`
	Operations []operation.Operation `json:"operations"`
	Command    []string              `json:"command,omitempty"` // none for what the runner itself does
}

func runHookList(_ context.Context, d cmd.Deps, o cmd.Common, s *session.Resolved) error {
	lines := []hookLine{}
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "PROJECT"}, {Title: "HOOK"}, {Title: "ON"}, {Title: "OPERATIONS", Min: 10}, {Title: "COMMAND", Min: 10},
	}}
	for _, step := range append(slices.Clone(s.Plan.Steps), runStep(s)) {
		for _, h := range step.Project.Hooks {
			lines = append(lines, hookLine{step.Project.Name, h.Name, h.On, h.Operations, h.Command})
			operations := lists.Map(h.Operations, func(op operation.Operation) string { return string(op) })
			table.Rows = append(table.Rows, []string{step.Project.Name, h.Name, string(h.On), strings.Join(operations, ","),
				cmd.OrDash(strings.Join(h.Command, " "))})
		}
	}
	return o.Show(d, lines, table.Text(d.Width()))
}
