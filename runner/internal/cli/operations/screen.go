package operations

import (
	"cmp"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/output/report"
	"mara/runner/internal/output/ui"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
)

// showOptions say how a run is shown and where its report goes.
type showOptions struct {
	UI       ui.Mode
	LogOrder ui.LogOrder
	Diff     bool   // of a preview: the properties that would change
	Report   string // file for a second report, next to the one in the run's directory
}

func showFlags() []cli.Flag {
	modes, orders := ui.Modes(), ui.LogOrders()
	return []cli.Flag{
		&cli.GenericFlag{
			Name: "ui", Value: &cmd.Choice{Allowed: modes, Value: modes[0]},
			Usage: "show the run as `MODE`: " + strings.Join(modes, ", "),
		},
		&cli.GenericFlag{Name: "log-order",
			Value: &cmd.Choice{Allowed: append([]string{autoOrder}, orders...), Value: autoOrder},
			Usage: "print diagnostics in `ORDER`: " + autoOrder + ", " + strings.Join(orders, ", ")},
		&cli.StringFlag{
			Name: "report", Usage: "write a report of the run to `FILE`: .html, .md, .json, .xml (JUnit), .sarif or .csv",
		},
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

// knownTo returns the durations and numbers of resources that a screen expects.
func knownTo(s *session.Session, o operateOptions, w work) ui.Options {
	if o.part != nil {
		return ui.Options{}
	}
	return ui.Options{Durations: durations(s, o.Operation), Resources: resources(s, w)}
}

// newScreen returns the screen that the options ask for.
func newScreen(d cmd.Deps, o operateOptions, known ui.Options) (cmd.Screen, ui.Look) {
	if o.part != nil {
		return o.part, ui.Look{}
	}
	if o.Output == "json" {
		return ui.NewJSON(d.Stdout), ui.Look{}
	}
	facts := o.Facts(d)
	facts.Asked, facts.Order = o.Show.UI, o.Show.LogOrder
	look := ui.Decide(facts)
	known.Size, known.Width, known.Diff = d.Size, d.Width(), o.Show.Diff
	known.Colour, known.ASCII, known.Order, known.GitHub = look.Colour, look.ASCII, look.Order, look.GitHub
	if look.Mode == ui.LiveMode {
		known.Ticks = time.Tick(ui.TickRate)
		return ui.NewLive(d.Stdout, known), look
	}
	known.Ticks = time.Tick(time.Second)
	return ui.NewPlain(d.Stdout, known), look
}

func durations(s *session.Session, op operation.Operation) map[string]time.Duration {
	return journal.Durations(s.Directory.Runs(), journal.DurationQuery{
		Environment: s.Environment(),
		Operation:   op,
		New:         func(project string) bool { return s.Stacks.Summary(project).Resources == 0 },
	})
}

// resources estimates how many resources each project will go through.
func resources(s *session.Session, w work) map[string]int {
	return w.resources(
		journal.Resources(s.Directory.Runs(), s.Environment()),
		func(project string) int { return s.Stacks.Summary(project).Resources },
	)
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

// writeReport writes a run's report in the format of the file's extension.
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
