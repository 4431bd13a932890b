package operators

import (
	"context"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/typeset"
)

func statusCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show the states of an environment's Stacks",
		Description: "Lists the Stacks in order, prerequisites first, with their states: ready, reconciling, waiting for\n" +
			"another Stack, stalled with the cause, deleting, or unseen until the operator has observed the\n" +
			"current version.\n\n" +
			"Examples:\n" +
			"  runner operator status -s dev\n" +
			"  runner operator status -s dev -n envs -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags:  flags(),
		Action: action(d, work.show),
	}
}

func (w work) show(ctx context.Context) error {
	states, err := w.list(ctx)
	if err != nil {
		return err
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "STACK"}, {Title: "STATE"}, {Title: "LAST"},
		{Title: "COMMIT", Optional: true}, {Title: "CAUSE", Min: 20, Wrap: true}}}
	for _, s := range states {
		last, commit := cmd.OrDash(s.Last), s.Commit
		if s.LastAt != nil {
			last += " " + cmd.Ago(w.d.Now().Sub(*s.LastAt))
		}
		const short = 12
		table.Rows = append(table.Rows, []string{s.Name, string(s.Phase), last, commit[:min(short, len(commit))], s.Cause})
	}
	return w.conclude(states, table.Text(w.d.Width()))
}
