package runs

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
)

// History returns `runner history`.
func History(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "history", Usage: "list past runs",
		Description: "Lists the newest runs first, with operation, environment, result, start, duration and user. " +
			"--simulate lists simulated runs, -s only the runs of one stack.\n\n" +
			"Example:\n  runner history -s dev\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag("table", "json"),
			[]cli.Flag{&cli.IntFlag{Name: "limit", Value: 20, Usage: "list at most `N` runs; 0 lists all"}},
			flags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseHistory, runHistory),
	}
}

type historyOptions struct {
	options
	Limit int
}

func parseHistory(c *cli.Context, d cmd.Deps, common cmd.Common) (historyOptions, error) {
	o, err := parse(c, d, common)
	return historyOptions{options: o, Limit: c.Int("limit")}, err
}

func runHistory(_ context.Context, d cmd.Deps, o historyOptions) error {
	runs, err := journal.Summaries(o.Directory)
	if err != nil {
		return err
	}
	past := []cmd.PastRun{}
	for run, summary := range runs {
		if o.Stack.IsSet() && summary.Stack != o.Stack.Text {
			continue
		}
		past = append(past, cmd.NewPastRun(run, summary))
		if len(past) == o.Limit {
			break
		}
	}
	return o.Show(d, past, historyText(past, d.Now(), d.Width()))
}

func historyText(past []cmd.PastRun, now time.Time, width int) string {
	if len(past) == 0 {
		return "no runs yet\n"
	}
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "RUN"}, {Title: "OPERATION"}, {Title: "ENVIRONMENT", Min: 11, Middle: true}, {Title: "RESULT"},
		{Title: "STARTED"}, {Title: "TOOK", Optional: true}, {Title: "BY", Min: 6, Optional: true},
	}}
	for _, p := range past {
		took := event.FormatDuration(time.Duration(p.DurationMS) * time.Millisecond)
		table.Rows = append(table.Rows, []string{
			p.ID, string(p.Operation), p.Provider + "/" + p.Stack, string(p.Result), cmd.Ago(now.Sub(p.Started)), took,
			cmd.OrDash(p.By),
		})
	}
	heading := ""
	if past[0].Simulated { // simulated runs have their own directory
		heading = "[SIMULATED]\n"
	}
	return heading + table.Text(width)
}
