package cli

import (
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/journal"
	"mara/runner/internal/report"
	"mara/runner/internal/schema"
	"mara/runner/internal/ui"
)

func showCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show a past run", ArgsUsage: "[RUN]",
		Description: "Prints the run as it was shown, with its summary; without RUN the last one. The beginning of an id will do.\n" +
			"-o json prints its events.\n\nExample:\n  runner show 20261120-19\n\n" + exitText(exitDone, exitFailed, exitUsage, exitConfig),
		Flags: joinFlags(outputFlag("text", "json"), runsFlags(), baseFlags()),
		Action: func(c *cli.Context) error {
			o, err := parseRuns(c, d, 1)
			if err != nil {
				return err
			}
			return runShow(d, o)
		},
	}
}

// findRun is the run that the first argument names, the last one without it.
func (o runsOptions) findRun() (journal.Run, error) {
	id := ""
	if len(o.Args) > 0 {
		id = o.Args[0]
	}
	return journal.Find(o.Folder, id)
}

func runShow(d Deps, o runsOptions) error {
	run, err := o.findRun()
	if err != nil {
		return err
	}
	var show screen = ui.NewPlain(d.Stdout, ui.PlainOptions{Width: d.width(), Colour: o.Color})
	if o.Output == "json" {
		show = ui.NewJSON(d.Stdout)
	}
	for e, err := range run.Events() {
		if errors.Is(err, event.ErrTruncated) {
			break // the run was cut off, or goes on
		}
		if err != nil {
			return err
		}
		show.Emit(e)
	}
	return show.Close()
}

func reportCommand(d Deps) *cli.Command {
	formats := report.Formats()
	return &cli.Command{
		Name: "report", Usage: "write a report of a past run", ArgsUsage: "[RUN]",
		Description: "Without RUN the last one. The page (html) is one file that needs no network.\n\n" +
			"Examples:\n  runner report > run.html\n  runner report -o junit > run.xml\n\n" + exitText(exitDone, exitFailed, exitUsage, exitConfig),
		Flags: joinFlags(
			outputFlag(formats...),
			[]cli.Flag{&cli.GenericFlag{Name: "format", Value: &choice{allowed: formats}, Usage: "the same as --output `FORMAT`"}},
			runsFlags(), baseFlags(),
		),
		Action: func(c *cli.Context) error {
			o, err := parseRuns(c, d, 1)
			if err != nil {
				return err
			}
			if format := c.Generic("format").(*choice); format.value != "" {
				o.Output = format.value
			}
			return runReport(d, o, report.Format(o.Output))
		},
	}
}

func runReport(d Deps, o runsOptions, format report.Format) error {
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
	addOutputs(details, outputs)
	return report.Write(d.Stdout, format, summary, details)
}

func schemaCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of what the runner prints and reads", ArgsUsage: strings.Join(schema.Names(), "|"),
		Description: "events: a line of `-o json` of an operation; summary: summary.json in a run's folder; plan: `runner plan -o json`;\n" +
			"config: the stack file, for editors (see `runner config schema --help`); status, history and doctor: what\n" +
			"these commands print with -o json.\n\n" +
			"Example:\n  runner schema events\n\n" + exitText(exitDone, exitUsage),
		Flags: joinFlags(outputFlag("json"), baseFlags()),
		Action: func(c *cli.Context) error {
			if _, err := parseCommon(c, d); err != nil {
				return err
			}
			given, err := arguments(c, 1)
			if err != nil {
				return err
			}
			if len(given) == 0 {
				return failure.Usagef("schema", "which schema? known: %s", strings.Join(schema.Names(), ", "))
			}
			text, err := schema.Get(given[0])
			if err != nil {
				return failure.Usagef("schema", "%v", err)
			}
			_, err = d.Stdout.Write(text)
			return err
		},
	}
}
