// Package runs has the commands about past runs: history, show, logs, report and support.
package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pkg/browser"
	"github.com/urfave/cli/v2"

	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/relay"
	"mara/runner/internal/core/report"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/typeset"
)

// flags returns the flags that choose the runs of a root or a stack.
func flags() []cli.Flag {
	return cmd.JoinFlags(cmd.RootFlags(), []cli.Flag{
		cmd.StackFlag("use the stack `NAME` (default: PULUMI_STACK)"),
		cmd.SimulateFlag("use simulated clouds, whose state is stored in .runner/simulated"),
	})
}

type options struct {
	cmd.Common
	Directory      string
	Limit          int    // of history; 0 for all
	Errors, Follow bool   // of logs
	App            string // of logs: the application whose Pods are asked
	Open           bool   // of report: in a browser
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	return options{Common: common, Directory: common.Directory().Runs(), Limit: c.Int("limit"),
		Errors: c.Bool("errors"), Follow: c.Bool("follow"), App: c.String("app")}, common.NoRoot
}

// findRun returns the run that the first argument names, or the last run.
func (o options) findRun() (journal.Run, error) {
	id := ""
	if len(o.Args) > 0 {
		id = o.Args[0]
	}
	run, err := journal.Find(o.Directory, id)
	if none, ok := errors.AsType[*failure.Usage](err); ok {
		none.Text += o.others()
	}
	return run, err
}

// Show returns `runner show`.
func Show(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show a past run", ArgsUsage: "[RUN]",
		Description: "Prints the events and summary of RUN, or of the last run. A prefix of the ID is enough. -o " +
			"json prints the events as JSON.\n\n" +
			"Examples:\n  runner show 20261120-19\n  runner show\n  runner show 20261120-19 -o json\n\n" +
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
	if meta, err := run.Meta(); err == nil && o.Output != "json" {
		if text := meta.Origin().About(); text != "" {
			fmt.Fprintf(d.Stdout, "run %s, %s\n", run.ID, text)
		}
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
			"--open opens the page that the run has left in a browser, and prints its path.\n\n" +
			"Examples:\n  runner report > run.html\n  runner report --open\n" +
			"  runner report -o junit > run.xml\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag(formats...),
			[]cli.Flag{
				&cli.GenericFlag{Name: "format", Value: &cmd.Choice{Allowed: formats},
					Usage: "the same as --output `FORMAT`"},
				&cli.BoolFlag{Name: "open", Usage: "open the page in a browser"},
			},
			flags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseReport, runReport),
	}
}

func parseReport(c *cli.Context, d cmd.Deps, common cmd.Common) (options, error) {
	o, err := parse(c, d, common)
	o.Output, o.Open = cmp.Or(cmd.Chosen(c, "format"), o.Output), c.Bool("open")
	return o, err
}

func runReport(_ context.Context, d cmd.Deps, o options) error {
	run, err := o.findRun()
	if err != nil {
		return err
	}
	if o.Open {
		return openReport(d, filepath.Join(run.Dir, "report.html"))
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
	details.Before = journal.TimesBefore(filepath.Dir(run.Dir), summary)
	return report.Write(d.Stdout, report.Format(o.Output), summary, details)
}

// openReport opens the page of a run in a browser.
func openReport(d cmd.Deps, file string) error {
	if _, err := os.Stat(file); err != nil {
		return &failure.Environment{Text: err.Error(), Next: "`runner report > run.html` writes a report of any run"}
	}
	fmt.Fprintln(d.Stdout, file)
	if err := browser.OpenFile(file); err != nil {
		return &failure.Environment{Text: fmt.Sprintf("no browser could be started: %v", err), Next: "open the file yourself"}
	}
	return nil
}

// History returns `runner history`.
func History(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "history", Usage: "list past runs",
		Description: "Lists the newest runs first, with operation, environment, result, start, duration and user. " +
			"--simulate lists simulated runs, -s only the runs of one stack.\n\n" +
			"Examples:\n  runner history -s dev\n  runner history --limit 5\n" +
			"  runner history --simulate -o json\n\n" +
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
	if len(past) == 0 {
		return o.Show(d, past, "no runs yet"+o.others()+"\n")
	}
	return o.Show(d, past, historyText(past, d.Now(), d.Width()))
}

// others says that there are runs of the other kind: simulated ones, or real ones.
func (o options) others() string {
	runs, err := journal.List(layout.Of(o.Root, !o.Simulation.On).Runs())
	count, are := typeset.Counted(len(runs), "run"), typeset.Are(len(runs))
	switch {
	case err != nil || len(runs) == 0:
		return ""
	case o.Simulation.On:
		return fmt.Sprintf("; without --simulate, %s %s listed", count, are)
	}
	return fmt.Sprintf("; %s here %s simulated: add --simulate", count, are)
}

func historyText(past []view.PastRun, now time.Time, width int) string {
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "RUN"}, {Title: "OPERATION"}, {Title: "ENVIRONMENT", Min: 11, Middle: true}, {Title: "RESULT"},
		{Title: "STARTED"}, {Title: "TOOK", Optional: true}, {Title: "BY", Min: 6, Optional: true},
		{Title: "COMMIT", Min: 8, Optional: true}, {Title: "MESSAGE", Min: 8, Optional: true},
	}}
	for _, p := range past {
		took := event.FormatDuration(time.Duration(p.DurationMS) * time.Millisecond)
		table.Rows = append(table.Rows, []string{
			p.ID, string(p.Operation), model.Place(p.Provider, p.Stack), p.Word(), typeset.Ago(now.Sub(p.Started)), took,
			cmd.OrDash(p.By), p.Commit, p.Message,
		})
	}
	heading := ""
	if past[0].Simulated { // simulated runs have their own directory
		heading = "[SIMULATED]\n"
	}
	text := heading + table.Text(width)
	if newest := past[0]; newest.Standing != "" {
		text += "\n" + typeset.Wrap(newest.ID+": "+newest.Standing, width, 2) + "\n"
	}
	return text
}
