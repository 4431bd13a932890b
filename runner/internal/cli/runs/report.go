package runs

import (
	"cmp"
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/output/report"
	"mara/runner/internal/run/event"
	"mara/runner/internal/workflow/relay"
)

// Report returns `runner report`.
func Report(d cmd.Deps) *cli.Command {
	formats := report.Formats()
	return &cli.Command{
		Name: "report", Usage: "write a report of a past run", ArgsUsage: "[RUN]",
		Description: "Without RUN, it reports on the last run. The HTML page is a single file that needs no network.\n\n" +
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
