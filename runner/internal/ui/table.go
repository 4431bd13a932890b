package ui

import (
	"slices"
	"strings"

	"mara/runner/internal/typeset"
)

// column is a column of a table.
type column struct {
	title string
	// min is the width to which the column may be cut; zero means that it is
	// never cut.
	min int
	// middle cuts the column in the middle: the ends tell similar names apart.
	middle bool
	// optional columns are the first to be cut when the table does not fit, and
	// go away where not even their minimum does.
	optional bool
}

// table renders rows below a heading, two spaces apart, with the last column
// ragged. It cuts or gives up optional columns from the right and then cuts the
// others to fit the width; with a width of zero it cuts nothing. paint may colour a
// cell after its width is settled.
func table(columns []column, rows [][]string, width int, paint func(row, col int, text string) string) string {
	keep, sizes := fit(columns, rows, width)
	rows = cutRows(columns, rows, sizes)
	var b strings.Builder
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
	}
	writeRow(&b, titles, keep, sizes, func(_ int, text string) string { return text })
	for r, row := range rows {
		writeRow(&b, row, keep, sizes, func(col int, text string) string { return paint(r, col, text) })
	}
	return b.String()
}

// fit decides which columns stay and how wide each is.
func fit(columns []column, rows [][]string, width int) (keep, sizes []int) {
	sizes = make([]int, len(columns))
	for i, c := range columns {
		sizes[i] = typeset.Cells(c.title)
		empty := true
		for _, row := range rows {
			sizes[i] = max(sizes[i], typeset.Cells(row[i]))
			empty = empty && row[i] == ""
		}
		if !empty || !c.optional {
			keep = append(keep, i)
		}
	}
	if width <= 0 {
		return keep, sizes
	}
	for i := len(keep) - 1; i >= 0 && total(keep, sizes) > width; i-- {
		col := keep[i]
		rest := sizes[col] - (total(keep, sizes) - width)
		switch {
		case !columns[col].optional:
		case columns[col].min > 0 && rest >= columns[col].min:
			sizes[col] = rest
		default:
			keep = append(keep[:i], keep[i+1:]...)
		}
	}
	for _, col := range keep {
		if over := total(keep, sizes) - width; over > 0 && columns[col].min > 0 {
			sizes[col] = max(sizes[col]-over, columns[col].min)
		}
	}
	return keep, sizes
}

// total is the width of the whole table.
func total(keep, sizes []int) int {
	sum := 2 * (len(keep) - 1)
	for _, col := range keep {
		sum += sizes[col]
	}
	return sum
}

func writeRow(b *strings.Builder, cells []string, keep, sizes []int, paint func(col int, text string) string) {
	var line strings.Builder
	for i, col := range keep {
		text := paint(col, cells[col])
		if i < len(keep)-1 {
			text = typeset.Pad(text, sizes[col]+2)
		}
		line.WriteString(text)
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// cutRows cuts every cell to the size of its column.
func cutRows(columns []column, rows [][]string, sizes []int) [][]string {
	out := make([][]string, len(rows))
	for r, row := range rows {
		out[r] = slices.Clone(row)
		for col, text := range row {
			if columns[col].middle {
				out[r][col] = typeset.CutMiddle(text, sizes[col], "…")
			} else {
				out[r][col] = typeset.Cut(text, sizes[col], "…")
			}
		}
	}
	return out
}
