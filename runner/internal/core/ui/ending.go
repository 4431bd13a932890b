package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

// ending ends a run: why it failed, what became of every project, and the totals.
type ending struct {
	summary *event.Summary
	paint   palette
	width   int
	list    List // how much a preview lists of what would change
	why     bool // lists why each project ran
}

func (e ending) render() string {
	return e.failures() + e.differences() + e.reasons() + e.table() + e.links() + e.totals()
}

// links renders where Pulumi Cloud shows the updates.
func (e ending) links() string {
	table := typeset.Table{Columns: make([]typeset.Column, 2)}
	for _, step := range e.summary.Steps {
		if step.Link != "" {
			table.Rows = append(table.Rows, []string{"  " + step.Name, step.Link})
		}
	}
	if len(table.Rows) == 0 {
		return ""
	}
	return "\n" + e.paint.bold("At Pulumi Cloud") + "\n" + table.Text(0)
}

// failures renders why steps have failed, with the diagnostics in full. What was
// skipped or cancelled in consequence has nothing to add. Diagnostics are indented but not
// wrapped: they may hold commands, addresses and tables of their own.
func (e ending) failures() string {
	var b strings.Builder
	for _, f := range e.summary.Failures() {
		b.WriteString("\n" + e.paint.red(typeset.Wrap("FAILED "+f.Title(), e.width, 2)) + "\n")
		for _, d := range f.Errors {
			if r := d.Resource.String(); r != "" {
				b.WriteString("  " + e.paint.bold(r) + "\n")
			}
			b.WriteString(indented(d.Message, 4) + "\n")
		}
	}
	return b.String()
}

// reasons renders why each project ran or was skipped.
func (e ending) reasons() string {
	if !e.why {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + e.paint.bold("Why") + "\n")
	for _, step := range e.summary.Steps {
		text := cmp.Or(strings.Join(step.Why, "; "), step.Reason, "nothing has changed that is known")
		if step.Result == event.Skipped && len(step.Why) == 0 {
			text = "skipped: " + text
		}
		b.WriteString(typeset.Wrap(fmt.Sprintf("  %s: %s", step.Name, text), e.width, 4) + "\n")
	}
	return b.String()
}

// The columns of the summary table.
const (
	colProject = iota
	colResult
	colChanges
	colTime
	colReason
)

// isQuietEnd reports whether a step is the end of a wave that had nothing to do.
func isQuietEnd(s event.Step) bool {
	return event.EndsWave(s.Name) && s.Result == event.Skipped &&
		(s.Reason == event.WaveDone || s.Reason == event.WaveUnwaited)
}

// table renders one line for every project, in plan order.
func (e ending) table() string {
	steps := slices.DeleteFunc(slices.Clone(e.summary.Steps), isQuietEnd)
	if len(steps) == 0 {
		return ""
	}
	if e.summary.Operation == operation.Preview {
		return e.previewTable()
	}
	rows := lists.Map(steps, e.row)
	columns := []typeset.Column{
		colProject: {Title: strings.ToUpper(e.summary.Noun()), Min: 10, Middle: true},
		colResult:  {Title: "RESULT"},
		colChanges: {Title: "CHANGES"},
		colTime:    {Title: "TIME"},
		colReason:  {Title: "REASON", Min: 16, Optional: true, Wrap: true},
	}
	if e.summary.Changes.Outputs > 0 {
		columns = slices.Insert(columns, colTime, typeset.Column{Title: "OUTPUTS", Optional: true})
		for i, s := range steps {
			rows[i] = slices.Insert(rows[i], colTime, typeset.Dash(s.Changes.Outputs))
		}
	}
	paint := func(row, col int, text string) string {
		if col == colResult {
			return e.paint.result(steps[row].Result, text)
		}
		return text
	}
	return e.heading() + typeset.Table{Columns: columns, Rows: rows, Paint: paint}.Text(e.width)
}

func (e ending) heading() string {
	text := "Summary"
	if e.summary.Simulated {
		text += " " + mark
	}
	return "\n" + e.paint.bold(text) + "\n"
}

// row renders a step. One that never ran has neither changes nor a time.
func (e ending) row(s event.Step) []string {
	row := []string{colProject: s.Name, colResult: string(s.Result), colChanges: "-", colTime: "-", colReason: s.Reason}
	switch {
	case s.Result == "":
		row[colResult] = "unknown"
	case s.Unchanged != "":
		row[colResult] = "unchanged"
	case s.Result == event.Failed && s.Reason == "":
		row[colReason] = firstCause(s)
	}
	if s.Ran() {
		if !e.summary.Operation.IsPlain() {
			row[colChanges] = "none"
		}
		row[colTime] = event.FormatDuration(s.Duration())
	}
	if resources := s.Changes.Resources(); resources.Any() {
		row[colChanges] = resources.String()
	}
	return row
}

// firstCause returns the beginning of why a step failed; the whole is above the table.
func firstCause(s event.Step) string {
	const most = 80
	errs := s.Errors()
	if len(errs) == 0 {
		return ""
	}
	return typeset.Cut(strings.Join(strings.Fields(errs[0].Message), " "), most, "...")
}

// totals renders the last words about the run.
func (e ending) totals() string {
	s := e.summary
	verb := map[event.Result]string{event.Succeeded: "succeeded in", event.Failed: "FAILED after",
		event.Interrupted: "INTERRUPTED after"}
	text := fmt.Sprintf("%s %s %s: %s; %s", s.Operation, verb[s.Outcome()], event.FormatDuration(s.Duration()),
		s.Results, s.Changes.Words(s.Operation))
	if n := len(s.LeftOut()); n > 0 {
		text += fmt.Sprintf("; %d left out", n)
	}
	if n := len(s.Warnings); n > 0 {
		text += "; " + typeset.Counted(n, "warning")
	}
	if s.Simulated {
		text += " " + mark
	}
	return "\n" + e.paint.result(s.Outcome(), typeset.Wrap(text, e.width, 2)) + "\n"
}
