package runs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
)

// Logs returns `runner logs`.
func Logs(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "logs", Usage: "print the logs of the projects of a run", ArgsUsage: "[RUN] [PROJECT]",
		Description: "Without RUN, the last run; without PROJECT, all projects. Secrets are masked. --follow shows " +
			"a run that is still going on to its end, also one in another terminal. -o json prints the events of " +
			"the projects.\n\n" +
			"--app asks the cluster of the environment instead: it prints how the Pods of an application are, with " +
			"restarts, image and last event, and the last 100 lines of each. --follow goes on until Ctrl-C.\n\n" +
			"Examples:\n  runner logs certmgr\n  runner logs 20261120-193000-250k3f --errors\n" +
			"  runner logs --follow\n  runner logs --app shop -s prod\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag("text", "json"),
			[]cli.Flag{
				&cli.StringFlag{Name: "app", Usage: "print what the Pods of the application `NAME` say"},
				&cli.BoolFlag{Name: "errors", Usage: "print only the projects that failed"},
				&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "keep printing until the run has finished"},
			},
			flags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseLogs, runLogs),
	}
}

func parseLogs(c *cli.Context, d cmd.Deps, common cmd.Common) (options, error) {
	o, err := parse(c, d, common)
	if err == nil && o.App != "" && (len(o.Args) > 0 || o.Errors) {
		err = failure.Usagef("logs", "--app is about what runs now, and no RUN, PROJECT or --errors goes with it")
	}
	if err == nil && o.Errors && o.Follow {
		err = failure.Usagef("logs", "--errors and --follow exclude each other: only a finished run has failed projects")
	}
	return o, err
}

// choose finds the named run and project; a single argument may name either.
func (o options) choose() (run journal.Run, project string, err error) {
	run, err = o.findRun()
	switch {
	case len(o.Args) == 2:
		project = o.Args[1]
	case err != nil && len(o.Args) == 1:
		run, err = journal.Find(o.Directory, "")
		project = o.Args[0]
	}
	if known, ok := o.Known().Named(project); ok {
		project = known.Name
	}
	return run, project, err
}

func runLogs(ctx context.Context, d cmd.Deps, o options) error {
	if o.App != "" {
		return runAppLogs(ctx, d, o)
	}
	run, project, err := o.choose()
	if err != nil {
		return err
	}
	names, err := run.Logs()
	if err != nil {
		return err
	}
	if o.Follow {
		return followLogs(ctx, d, o, run, project)
	}
	if project != "" {
		if !slices.Contains(names, project) {
			return noLog(run, project, names)
		}
		names = []string{project}
	}
	if o.Errors {
		if names, err = failedOf(run, names); err != nil {
			return err
		}
	}
	if o.Output == "json" {
		return printEvents(d.Stdout, run.Events(), names)
	}
	return printLogs(d.Stdout, run, names)
}

// noLog returns the error for a project that did not take part in a run.
func noLog(run journal.Run, project string, names []string) error {
	return &failure.Usage{
		Text: fmt.Sprintf("run %s has no log of %q%s", run.ID, project, config.DidYouMean(project, names)),
		Next: "`runner show " + run.ID + "` shows its projects",
	}
}

func failedOf(run journal.Run, names []string) ([]string, error) {
	summary, err := run.Summary()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		step, _ := summary.Step(name)
		return step == nil || step.Result != event.Failed
	}), nil
}

// printLogs prints a single log as it is, and prefixes the lines of several with their project.
func printLogs(w io.Writer, run journal.Run, names []string) error {
	out := bufio.NewWriter(w)
	for _, name := range names {
		content, err := files.Read(run.LogFile(name), files.Data)
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

func printEvents(w io.Writer, events iter.Seq2[event.Event, error], names []string) error {
	out := bufio.NewWriter(w)
	for e, err := range events {
		if errors.Is(err, event.ErrTruncated) {
			break // the run was interrupted, or still runs
		}
		if err != nil {
			return err
		}
		if !slices.Contains(names, e.Project) {
			continue
		}
		line, err := event.Marshal(e)
		if err != nil {
			return err
		}
		_, _ = out.Write(line)
	}
	return out.Flush()
}

func followLogs(ctx context.Context, d cmd.Deps, o options, run journal.Run, project string) error {
	isRunning, err := o.watch(ctx, d, run)
	if err != nil {
		return err
	}
	var lines journal.Lines
	for e, err := range run.Follow(isRunning) {
		if err != nil {
			return err
		}
		names := lists.Map(e.Projects, func(p event.Project) string { return p.Name })
		if e.Type == event.RunStarted && project != "" && !slices.Contains(names, project) {
			return noLog(run, project, names)
		}
		text := lines.Line(e)
		if project != "" && e.Project != project || text == "" {
			continue
		}
		if err := o.printFollowed(d.Stdout, e, text, project == ""); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return cmd.Exit(cmd.ExitInterrupted) // Ctrl-C ends --follow; it needs no message
	}
	return nil
}

// printFollowed prints an event as JSON, or its lines of the project's log.
func (o options) printFollowed(w io.Writer, e event.Event, text string, several bool) error {
	if o.Output == "json" {
		line, err := event.Marshal(e)
		if err != nil {
			return err
		}
		_, err = w.Write(line)
		return err
	}
	if several {
		text = e.Project + ": " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+e.Project+": ") + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// watch returns a function that waits a moment and reports whether more events may come: not
// if the process of the run has ended, and not if stdout has no reader.
func (o options) watch(ctx context.Context, d cmd.Deps, run journal.Run) (func() bool, error) {
	const often = 200 * time.Millisecond
	meta, err := run.Meta()
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	return func() bool {
		cutOff := meta.PID == 0 || meta.Host == host && !lock.IsAlive(meta.PID)
		return !run.IsOver() && !cutOff && cmd.HasReader(d.Stdout) && interrupt.Sleep(ctx, often) == nil
	}, nil
}
