package ui

import (
	"slices"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

// destructive marks a project in which something would go.
const destructive = "!"

// previewTable renders what would happen, and whether that is all that can happen.
func (e ending) previewTable() string {
	if e.width > 0 && e.width < narrow {
		return e.narrowPreview() + e.previewNotes()
	}
	columns := []typeset.Column{{Title: "", Optional: true},
		{Title: strings.ToUpper(e.summary.Noun()), Min: 10, Middle: true}}
	shown := slices.DeleteFunc(kinds(), func(k kind) bool { return k.of(e.summary.Changes) == 0 })
	for _, kind := range shown {
		columns = append(columns, typeset.Column{Title: kind.title})
	}
	columns = append(columns, typeset.Column{Title: "PREVIEW", Min: 20, Optional: true, Wrap: true})
	var rows [][]string
	for _, s := range e.summary.Steps {
		row := []string{"", s.Name}
		if isDestructive(s.Changes) {
			row[0] = destructive
		}
		for _, kind := range shown {
			row = append(row, typeset.Dash(kind.of(s.Changes)))
		}
		rows = append(rows, append(row, completeness(s)))
	}
	return e.heading() + typeset.Table{Columns: columns, Rows: rows,
		Paint: e.paintPreview(len(columns) - 1)}.Text(e.width) + e.previewNotes()
}

// kind is a kind of changes: a column, if there are any.
type kind struct {
	title string
	of    func(event.Changes) int
}

func kinds() []kind {
	return []kind{
		{"CREATE", func(c event.Changes) int { return c.Create }},
		{"UPDATE", func(c event.Changes) int { return c.Update }},
		{"REPLACE", func(c event.Changes) int { return c.Replace }},
		{"DELETE", func(c event.Changes) int { return c.Delete }},
		{"SAME", func(c event.Changes) int { return c.Same }},
		{"OUTPUTS", func(c event.Changes) int { return c.Outputs }},
	}
}

// paintPreview colours the rows in which something would go, and the last column.
func (e ending) paintPreview(last int) func(row, col int, text string) string {
	return func(row, col int, text string) string {
		s := e.summary.Steps[row]
		switch {
		case col == last && s.Result != event.Succeeded:
			return e.paint.result(s.Result, text)
		case col == last && isPartial(s):
			return e.paint.yellow(text)
		case col != last && isDestructive(s.Changes):
			return e.paint.red(text)
		}
		return text
	}
}

// previewNotes explains the marks of the table that are there.
func (e ending) previewNotes() string {
	text := ""
	if isDestructive(e.summary.Changes) {
		text += e.paint.red(typeset.Wrap(destructive+" resources would be replaced or deleted", e.width, 2)) + "\n"
	}
	if slices.ContainsFunc(e.summary.Steps, isPartial) {
		text += e.paint.yellow(typeset.Wrap("partial: more may change once the outputs of the named projects are known",
			e.width, 2)) + "\n"
	}
	if text == "" {
		return ""
	}
	return "\n" + text
}

func (e ending) narrowPreview() string {
	steps := e.summary.Steps
	table := typeset.Table{
		Columns: []typeset.Column{{Title: strings.ToUpper(e.summary.Noun()), Min: 10, Middle: true}, {Title: "CHANGES"},
			{Title: "PREVIEW", Min: 7, Optional: true}},
		Rows: lists.Map(steps, func(s event.Step) []string { return []string{s.Name, s.Changes.String(), completeness(s)} }),
		Paint: func(row, _ int, text string) string {
			if isDestructive(steps[row].Changes) {
				return e.paint.red(text)
			}
			return text
		},
	}
	return e.heading() + table.Text(e.width)
}

// isDestructive reports whether something that exists would go.
func isDestructive(c event.Changes) bool { return c.Replace+c.Delete > 0 }

// isPartial reports whether the preview has read outputs that are not known.
func isPartial(s event.Step) bool { return s.Result == event.Succeeded && len(s.Unknown) > 0 }

// completeness says whether a preview tells everything. What depends on outputs
// that are not known yet may change more than that.
func completeness(s event.Step) string {
	switch {
	case s.Result == "":
		return "unknown"
	case s.Result != event.Succeeded:
		return strings.TrimSuffix(string(s.Result)+", "+s.Reason, ", ")
	case isPartial(s):
		return "partial: " + strings.Join(s.Unknown, ", ")
	}
	return "complete"
}
