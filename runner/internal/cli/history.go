package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"mara/providers/operation"
	"mara/runner/internal/event"
	"mara/runner/internal/journal"
	"mara/runner/internal/layout"
	"mara/runner/internal/typeset"
)

func historyCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name:  "history",
		Usage: "list the runs",
		Description: "The newest first: operation, environment, result, when it began, how long it took, and who ran it. With\n" +
			"--simulate the simulated runs. With -s only those of a stack.\n\nExample:\n  runner history -s dev\n\n" +
			exitText(exitDone, exitFailed, exitUsage, exitConfig),
		Flags: joinFlags(
			outputFlag("table", "json"),
			[]cli.Flag{&cli.IntFlag{Name: "limit", Value: 20, Usage: "list at most `N` runs; 0 lists all"}},
			runsFlags(), baseFlags(),
		),
		Action: func(c *cli.Context) error {
			options, err := parseRuns(c, d, 0)
			if err != nil {
				return err
			}
			return runHistory(d, options, c.Int("limit"))
		},
	}
}

// runsFlags choose a folder of runs, and those of one stack.
func runsFlags() []cli.Flag {
	return joinFlags(rootFlags(), []cli.Flag{
		&cli.StringFlag{Name: "stack", Aliases: []string{"s"}, Category: commonCategory, Usage: "use the stack `NAME` (default: PULUMI_STACK)"},
		&cli.BoolFlag{Name: "simulate", Category: commonCategory, Usage: "work on simulated clouds, kept apart under .runner/simulated"},
	})
}

// runsOptions are the options of commands about past runs.
type runsOptions struct {
	commonOptions
	Folder string
	Args   []string
}

func parseRuns(c *cli.Context, d Deps, most int) (runsOptions, error) {
	common, err := parseCommon(c, d)
	if err != nil {
		return runsOptions{}, err
	}
	given, err := arguments(c, most)
	if err != nil {
		return runsOptions{}, err
	}
	if err := common.NoRoot; err != nil {
		return runsOptions{}, err
	}
	folder := layout.Of(common.Root, c.Bool("simulate")).Runs()
	return runsOptions{commonOptions: common, Folder: folder, Args: given}, nil
}

// pastRun is one line of the history.
type pastRun struct {
	ID         string              `json:"id"`
	Operation  operation.Operation `json:"operation"`
	Provider   string              `json:"provider"`
	Stack      string              `json:"stack"`
	Simulated  bool                `json:"simulated"`
	Result     event.Result        `json:"result"`
	Started    time.Time           `json:"started"`
	DurationMS int64               `json:"duration_ms"`
	By         string              `json:"by,omitempty"`
}

func runHistory(d Deps, o runsOptions, limit int) error {
	runs, err := journal.List(o.Folder)
	if err != nil {
		return err
	}
	past := []pastRun{}
	for _, r := range runs {
		summary, err := r.Summary()
		if err != nil || o.Stack.IsSet() && summary.Stack != o.Stack.Text {
			continue // a folder that cannot be read is no run to tell of
		}
		past = append(past, tell(r, summary))
		if len(past) == limit {
			break
		}
	}
	if o.Output == "json" {
		return writeJSON(d.Stdout, past)
	}
	return writeHistory(d.Stdout, past, d.Now(), d.width())
}

func tell(r journal.Run, summary *event.Summary) pastRun {
	past := pastRun{
		ID: r.ID, Operation: summary.Operation, Provider: summary.Provider, Stack: summary.Stack,
		Simulated: summary.Simulated, Result: summary.Outcome(), Started: summary.Started,
		DurationMS: summary.Duration().Milliseconds(),
	}
	if meta, err := r.Meta(); err == nil {
		past.By = meta.User + "@" + meta.Host
	}
	return past
}

func writeHistory(w io.Writer, past []pastRun, now time.Time, width int) error {
	if len(past) == 0 {
		_, err := fmt.Fprintln(w, "no runs yet")
		return err
	}
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "RUN"}, {Title: "OPERATION"}, {Title: "ENVIRONMENT", Min: 11, Middle: true}, {Title: "RESULT"},
		{Title: "STARTED"}, {Title: "TOOK", Optional: true}, {Title: "BY", Min: 6, Optional: true},
	}}
	for _, p := range past {
		took := event.FormatDuration(time.Duration(p.DurationMS) * time.Millisecond)
		table.Rows = append(table.Rows, []string{
			p.ID, string(p.Operation), p.Provider + "/" + p.Stack, string(p.Result), ago(now.Sub(p.Started)), took, orDash(p.By),
		})
	}
	heading := ""
	if past[0].Simulated { // they have a folder of their own
		heading = "[SIMULATED]\n"
	}
	_, err := io.WriteString(w, heading+table.Text(width))
	return err
}
