package operations

import (
	"cmp"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/journal"
	"mara/runner/internal/report"
	"mara/runner/internal/session"
	"mara/runner/internal/ui"
)

// showOptions say how a run is shown and where its report goes.
type showOptions struct {
	UI       ui.Mode
	LogOrder ui.LogOrder
	Diff     bool   // of a preview: the properties that would change
	Report   string // file for a report besides the one in the run's folder
}

func showFlags() []cli.Flag {
	modes, orders := ui.Modes(), ui.LogOrders()
	return []cli.Flag{
		&cli.GenericFlag{Name: "ui", Value: &cmd.Choice{Allowed: modes, Value: modes[0]}, Usage: "show the run as `MODE`: " + strings.Join(modes, ", ")},
		&cli.GenericFlag{Name: "log-order", Value: &cmd.Choice{Allowed: append([]string{autoOrder}, orders...), Value: autoOrder},
			Usage: "print diagnostics in `ORDER`: " + autoOrder + ", " + strings.Join(orders, ", ")},
		&cli.StringFlag{Name: "report", Usage: "write a report of the run to `FILE`: .html, .md, .json, .xml (JUnit) or .csv"},
	}
}

// autoOrder chooses the order of diagnostics by where they are read.
const autoOrder = "auto"

func parseShow(c *cli.Context) showOptions {
	o := showOptions{UI: ui.Mode(cmd.Chosen(c, "ui")), Report: c.String("report"), Diff: c.Bool("diff")}
	if order := cmd.Chosen(c, "log-order"); order != autoOrder {
		o.LogOrder = ui.LogOrder(order)
	}
	return o
}

// check refuses a report format that does not exist.
func (o showOptions) check() error {
	if o.Report == "" {
		return nil
	}
	if _, err := report.FormatOf(o.Report); err != nil {
		return failure.Usagef("", "--report: %v", err)
	}
	return nil
}

// lookOptions are what a screen knows besides the events.
type lookOptions struct {
	Durations map[string]time.Duration      // of the steps, in earlier runs
	Resources map[string]int                // that the steps will go through
	Next      func(*event.Summary) []string // commands to suggest at the end
	Plain     bool                          // somebody is asked on the terminal meanwhile
}

// looks are those of an operation on one environment.
func looks(s *session.Session, o operateOptions, w work, next func(*event.Summary) []string) lookOptions {
	if o.part != nil {
		return lookOptions{}
	}
	return lookOptions{Durations: durations(s, o.Operation), Resources: resources(s, w), Next: next}
}

func newScreen(d cmd.Deps, o operateOptions, l lookOptions) (cmd.Screen, ui.Look, error) {
	if o.part != nil {
		return o.part, ui.Look{}, nil
	}
	if o.Output == "json" {
		return ui.NewJSON(d.Stdout), ui.Look{}, nil
	}
	facts := o.Facts(d)
	facts.Asked, facts.Order = o.Show.UI, o.Show.LogOrder
	if l.Plain {
		facts.Asked = ui.PlainMode
	}
	look, err := ui.Decide(facts)
	if err != nil {
		return nil, look, failure.Usagef(string(o.Operation), "%v", err)
	}
	options := ui.Options{
		Size: d.Size, Width: d.Width(), Colour: look.Colour, ASCII: look.ASCII, Order: look.Order, GitHub: look.GitHub,
		Durations: l.Durations, Resources: l.Resources, Diff: o.Show.Diff, Next: l.Next, Ticks: time.Tick(time.Second),
	}
	if look.Mode == ui.LiveMode {
		options.Ticks = time.Tick(ui.TickRate)
		return ui.NewLive(d.Stdout, options), look, nil
	}
	return ui.NewPlain(d.Stdout, options), look, nil
}

func durations(s *session.Session, op operation.Operation) map[string]time.Duration {
	return journal.Durations(s.Folder.Runs(), journal.DurationQuery{
		Environment: s.Environment(),
		Operation:   op,
		New:         func(project string) bool { return s.Stacks.Summary(project).Resources == 0 },
	})
}

// resources estimates how many resources each project will go through.
func resources(s *session.Session, w work) map[string]int {
	return w.resources(journal.Resources(s.Folder.Runs(), s.Environment()), func(project string) int { return s.Stacks.Summary(project).Resources })
}

// resources takes the numbers of the preview that was shown, else of the last
// up, else of a preview that is partial, else of the state.
func (w work) resources(last map[string]int, inState func(project string) int) map[string]int {
	known := map[string]int{}
	for _, step := range w.plan.Steps {
		name := step.Project.Name
		number := cmp.Or(last[name], inState(name))
		if previewed, _ := w.preview.Step(name); previewed != nil && previewed.Result == event.Succeeded {
			if partial := len(previewed.Unknown) > 0; !partial || last[name] == 0 {
				number = previewed.Changes.Total()
			}
		}
		if number > 0 {
			known[name] = number
		}
	}
	return known
}

// writeReport writes a run's report in the format that the file's name tells.
func writeReport(path string, summary *event.Summary, details report.Details) error {
	format, err := report.FormatOf(path)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(report.Write(file, format, summary, details), file.Close())
}
