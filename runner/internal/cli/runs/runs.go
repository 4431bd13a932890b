// Package runs has the commands about past runs: history, show, logs, report and support.
package runs

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/output/report"
	"mara/runner/internal/output/ui"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/workflow/relay"
	"mara/runner/internal/workflow/view"
)

// flags returns the flags that choose the runs of a root or a stack.
func flags() []cli.Flag {
	return cmd.JoinFlags(cmd.RootFlags(), []cli.Flag{
		&cli.StringFlag{Name: "stack", Aliases: []string{"s"}, Category: cmd.CommonCategory,
			Usage: "use the stack `NAME` (default: PULUMI_STACK)"},
		&cli.BoolFlag{Name: "simulate", Category: cmd.CommonCategory,
			Usage: "use simulated clouds, whose state is stored in .runner/simulated"},
	})
}

type options struct {
	cmd.Common
	Directory      string
	Limit          int  // of history; 0 for all
	Errors, Follow bool // of logs
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	return options{Common: common, Directory: common.Directory().Runs(), Limit: c.Int("limit"),
		Errors: c.Bool("errors"), Follow: c.Bool("follow")}, common.NoRoot
}

// findRun returns the run that the first argument names, or the last run.
func (o options) findRun() (journal.Run, error) {
	id := ""
	if len(o.Args) > 0 {
		id = o.Args[0]
	}
	return journal.Find(o.Directory, id)
}

// Show returns `runner show`.
func Show(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show a past run", ArgsUsage: "[RUN]",
		Description: "Prints the events and summary of RUN, or of the last run. A prefix of the ID is enough. -o " +
			"json prints the events as JSON.\n\n" +
			"Example:\n  runner show 20261120-19\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("text", "json"), flags(), cmd.BaseFlags()),
		Action: cmd.Action(d, parse, runShow),
	}
}

func runShow(_ context.Context, d cmd.Deps, o options) error {
	run, err := o.findRun()
	if err != nil {
		return err
	}
	var show ui.Screen = ui.NewPlain(d.Stdout, ui.Options{Width: d.Width(), Colour: o.Color})
	if o.Output == "json" {
		show = ui.NewJSON(d.Stdout)
	}
	for e, err := range run.Events() {
		if errors.Is(err, event.ErrTruncated) {
			break // the run was interrupted, or still runs
		}
		if err != nil {
			return err
		}
		show.Emit(e)
	}
	return show.Close()
}

// Report returns `runner report`.
func Report(d cmd.Deps) *cli.Command {
	formats := report.Formats()
	return &cli.Command{
		Name: "report", Usage: "write a report of a past run", ArgsUsage: "[RUN]",
		Description: "Without RUN, it reports on the last run. The HTML page is a single file that needs no " +
			"network.\n\n" +
			"Examples:\n  runner report > run.html\n  runner report -o junit > run.xml\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag(formats...),
			[]cli.Flag{&cli.GenericFlag{Name: "format", Value: &cmd.Choice{Allowed: formats},
				Usage: "the same as --output `FORMAT`"}},
			flags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseReport, runReport),
	}
}

func parseReport(c *cli.Context, d cmd.Deps, common cmd.Common) (options, error) {
	o, err := parse(c, d, common)
	o.Output = cmp.Or(cmd.Chosen(c, "format"), o.Output)
	return o, err
}

func runReport(_ context.Context, d cmd.Deps, o options) error {
	run, err := o.findRun()
	if err != nil {
		return err
	}
	summary, details, err := report.Collect(run.Events())
	if err != nil && !errors.Is(err, event.ErrTruncated) {
		return err
	}
	outputs, err := run.Outputs()
	if err != nil {
		return err
	}
	relay.AddOutputs(details, outputs)
	return report.Write(d.Stdout, report.Format(o.Output), summary, details)
}

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
		Action: cmd.Action(d, parse, runHistory),
	}
}

func runHistory(_ context.Context, d cmd.Deps, o options) error {
	runs, err := journal.Summaries(o.Directory)
	if err != nil {
		return err
	}
	past := []view.PastRun{}
	for run, summary := range runs {
		if o.Stack.IsSet() && summary.Stack != o.Stack.Text {
			continue
		}
		past = append(past, view.NewPastRun(run, summary))
		if len(past) == o.Limit {
			break
		}
	}
	return o.Show(d, past, historyText(past, d.Now(), d.Width()))
}

func historyText(past []view.PastRun, now time.Time, width int) string {
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
			p.ID, string(p.Operation), p.Provider + "/" +
				p.Stack, string(p.Result), typeset.Ago(now.Sub(p.Started)), took,
			cmd.OrDash(p.By),
		})
	}
	heading := ""
	if past[0].Simulated { // simulated runs have their own directory
		heading = "[SIMULATED]\n"
	}
	return heading + table.Text(width)
}
