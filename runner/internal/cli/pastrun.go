package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/event"
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
	var sink interface {
		event.Sink
		Err() error
	} = ui.NewPlain(d.Stdout, ui.PlainOptions{Width: d.width(), Colour: o.Color})
	if o.Output == "json" {
		sink = ui.NewJSON(d.Stdout)
	}
	for e, err := range run.Events() {
		if errors.Is(err, event.ErrTruncated) {
			break // the run was cut off, or goes on
		}
		if err != nil {
			return err
		}
		sink.Emit(e)
	}
	return sink.Err()
}

func logsCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name: "logs", Usage: "print what happened in the projects of a past run", ArgsUsage: "[RUN] [PROJECT]",
		Description: "Without RUN those of the last run, without PROJECT all of them. Secrets are masked.\n\n" +
			"Examples:\n  runner logs certmgr\n  runner logs 20261120-193000-250k3f certmgr\n\n" + exitText(exitDone, exitFailed, exitUsage, exitConfig),
		Flags: joinFlags([]cli.Flag{&cli.BoolFlag{Name: "errors", Usage: "print the projects that failed only"}}, runsFlags(), baseFlags()),
		Action: func(c *cli.Context) error {
			o, err := parseRuns(c, d, 2)
			if err != nil {
				return err
			}
			return runLogs(d, o, c.Bool("errors"))
		},
	}
}

func runLogs(d Deps, o runsOptions, errorsOnly bool) error {
	run, err := o.findRun()
	project := ""
	if len(o.Args) == 2 {
		project = o.Args[1]
	} else if err != nil && len(o.Args) == 1 {
		run, err = journal.Find(o.Folder, "") // the one argument is a project
		project = o.Args[0]
	}
	if err != nil {
		return err
	}
	names, err := run.Logs()
	if err != nil {
		return err
	}
	if project != "" {
		if !slices.Contains(names, project) {
			return &usageError{text: fmt.Sprintf("run %s has no log of %q%s", run.ID, project, config.DidYouMean(project, names)),
				next: "`runner show " + run.ID + "` shows its projects"}
		}
		names = []string{project}
	}
	if errorsOnly {
		summary, err := run.Summary()
		if err != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			step, _ := summary.Step(name)
			return step == nil || step.Result != event.Failed
		})
	}
	return printLogs(d.Stdout, run, names)
}

// printLogs prints one log as it is, and several with the project before each line.
func printLogs(w io.Writer, run journal.Run, names []string) error {
	out := bufio.NewWriter(w)
	for _, name := range names {
		content, err := os.ReadFile(run.LogFile(name))
		if err != nil {
			return fmt.Errorf("reading the log of %s: %w", name, err)
		}
		for line := range bytes.Lines(content) {
			if len(names) > 1 {
				_, _ = out.WriteString(name + ": ")
			}
			_, _ = out.Write(line)
		}
	}
	return out.Flush()
}

func reportCommand(d Deps) *cli.Command {
	formats := make([]string, 0, len(report.Formats()))
	for _, format := range report.Formats() {
		formats = append(formats, string(format))
	}
	return &cli.Command{
		Name: "report", Usage: "write a report of a past run", ArgsUsage: "[RUN]",
		Description: "Without RUN the last one. The page (html) is one file that needs no network.\n\n" +
			"Examples:\n  runner report > run.html\n  runner report --format junit > run.xml\n\n" + exitText(exitDone, exitFailed, exitUsage, exitConfig),
		Flags: joinFlags(
			[]cli.Flag{&cli.GenericFlag{Name: "format", Value: &choice{allowed: formats, value: formats[0]}, Usage: "write as `FORMAT`: " + strings.Join(formats, ", ")}},
			runsFlags(), baseFlags(),
		),
		Action: func(c *cli.Context) error {
			o, err := parseRuns(c, d, 1)
			if err != nil {
				return err
			}
			return runReport(d, o, report.Format(c.Generic("format").(*choice).value))
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
	return report.WriteDetailed(d.Stdout, format, summary, details)
}

func schemaCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of what the runner prints and reads", ArgsUsage: strings.Join(schema.Names(), "|"),
		Description: "events: a line of `-o json` of an operation; summary: summary.json in a run's folder; plan: `runner plan -o json`;\n" +
			"config: the stack file, for editors (see `runner config schema --help`); doctor: `runner doctor -o json`.\n\n" +
			"Example:\n  runner schema events\n\n" + exitText(exitDone, exitUsage),
		Flags: baseFlags(),
		Action: func(c *cli.Context) error {
			if _, err := parseCommon(c, d); err != nil {
				return err
			}
			given, err := arguments(c, 1)
			if err != nil {
				return err
			}
			if len(given) == 0 {
				return usage("schema", "which schema? known: %s", strings.Join(schema.Names(), ", "))
			}
			text, err := schema.Get(given[0])
			if err != nil {
				return usage("schema", "%v", err)
			}
			_, err = d.Stdout.Write(text)
			return err
		},
	}
}
