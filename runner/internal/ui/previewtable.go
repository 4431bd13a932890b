package ui

import (
	"strconv"
	"strings"

	"mara/runner/internal/event"
)

// The columns of a preview's table.
const (
	colMark = iota
	colName
	colCreate
	colUpdate
	colReplace
	colDelete
	colSame
	colPreview
)

// destructive marks a project in which something would go.
const destructive = "!"

// previewTable renders what would happen in every project, and whether that is
// all that can happen.
func (e ending) previewTable() string {
	steps := e.summary.Steps
	if e.width > 0 && e.width < narrow {
		return e.narrowPreview()
	}
	rows := make([][]string, len(steps))
	dangerous := false
	for i, s := range steps {
		rows[i] = previewRow(s)
		dangerous = dangerous || isDestructive(s.Changes)
	}
	columns := []column{
		colMark: {title: "", optional: true}, colName: {title: "PROJECT", min: 10, middle: true},
		colCreate: {title: "CREATE"}, colUpdate: {title: "UPDATE"}, colReplace: {title: "REPLACE"}, colDelete: {title: "DELETE"}, colSame: {title: "SAME"},
		colPreview: {title: "PREVIEW", min: 10},
	}
	paint := func(row, col int, text string) string {
		switch {
		case col == colPreview && steps[row].Result != event.Succeeded:
			return e.paint.result(steps[row].Result, text)
		case col == colPreview && len(steps[row].Unknown) > 0:
			return e.paint.yellow(text)
		case col <= colName || col == colReplace || col == colDelete:
			if isDestructive(steps[row].Changes) {
				return e.paint.red(text)
			}
		}
		return text
	}
	text := e.heading() + table(columns, rows, e.width, paint)
	if dangerous {
		text += "\n" + e.paint.red(destructive+" resources would be replaced or deleted") + "\n"
	}
	return text
}

// narrowPreview is the table for a narrow screen.
func (e ending) narrowPreview() string {
	steps := e.summary.Steps
	rows := make([][]string, len(steps))
	for i, s := range steps {
		rows[i] = []string{s.Name, s.Changes.String(), completeness(s)}
	}
	columns := []column{{title: "PROJECT", min: 10, middle: true}, {title: "CHANGES"}, {title: "PREVIEW", min: 7}}
	return e.heading() + table(columns, rows, e.width, func(row, _ int, text string) string {
		if isDestructive(steps[row].Changes) {
			return e.paint.red(text)
		}
		return text
	})
}

// isDestructive reports whether something that exists would go.
func isDestructive(c event.Changes) bool { return c.Replace+c.Delete > 0 }

func previewRow(s event.Step) []string {
	c := s.Changes
	row := []string{
		colName: s.Name, colCreate: count(c.Create), colUpdate: count(c.Update), colReplace: count(c.Replace),
		colDelete: count(c.Delete), colSame: count(c.Same), colPreview: completeness(s),
	}
	if isDestructive(c) {
		row[colMark] = destructive
	}
	return row
}

func count(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// completeness says whether a preview tells everything. What depends on outputs
// that are not known yet may change more than that.
func completeness(s event.Step) string {
	switch {
	case s.Result == "":
		return "unknown"
	case s.Result != event.Succeeded:
		return strings.TrimSuffix(string(s.Result)+", "+s.Reason, ", ")
	case len(s.Unknown) > 0:
		return "partial, needs outputs of " + strings.Join(s.Unknown, ", ")
	}
	return "complete"
}
