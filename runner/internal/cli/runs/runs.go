// Package runs has the commands about past runs: history, show, logs, report and support.
package runs

import (
	"cmp"
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/output/report"
	"mara/runner/internal/output/ui"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/workflow/relay"
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
	Directory string
}

func parse(_ *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	return options{Common: common, Directory: common.Directory().Runs()}, common.NoRoot
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
