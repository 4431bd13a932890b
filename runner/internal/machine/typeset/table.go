package typeset

import (
	"slices"
	"strings"
)

// Table is a table, with a heading unless its columns have no titles. Its columns are two spaces apart.
type Table struct {
	Columns []Column
	Rows    [][]string
	// Paint colours a cell after its width is known; it may be nil.
	Paint func(row, column int, text string) string
}

// Column is a column of a table.
type Column struct {
	Title string
	// Min is the width to which the column may be cut; a column with zero is never cut.
	Min int
	// Middle cuts the column in the middle, because similar names differ at their ends.
	Middle bool
	// Wrap wraps the last column instead of cutting it; it gets at least Min.
	Wrap bool
	// Optional columns are cut first when the table does not fit. They are dropped if their
	// minimum does not fit, or if they are empty.
	Optional bool
}

// Text renders the table. To fit the width it cuts or drops optional columns and then cuts
// the other columns, both from the right. A width of zero cuts nothing.
func (t Table) Text(width int) string {
	keep, sizes := t.fit(width)
	var b strings.Builder
	var titles []string
	for _, c := range t.Columns {
		titles = append(titles, c.Title)
	}
	if strings.Join(titles, "") != "" {
		b.WriteString(t.line(heading, titles, keep, sizes))
	}
	for r, row := range t.Rows {
		b.WriteString(t.line(r, row, keep, sizes))
	}
	return b.String()
}

// fit returns the columns to show, and the widths of all columns.
func (t Table) fit(width int) (keep, sizes []int) {
	keep, sizes = t.natural()
	if width <= 0 {
		return keep, sizes
	}
	for i := len(keep) - 1; i >= 0 && total(keep, sizes) > width; i-- {
		column := keep[i]
		least := t.Columns[column].Min
		rest := sizes[column] - (total(keep, sizes) - width)
		switch {
		case !t.Columns[column].Optional:
		case least > 0 && rest >= least:
			sizes[column] = rest
		default:
			keep = slices.Delete(keep, i, i+1)
		}
	}
	for _, column := range slices.Backward(keep) {
		if over, least := total(keep, sizes)-width, t.Columns[column].Min; over > 0 && least > 0 {
			sizes[column] = max(sizes[column]-over, least)
		}
	}
	return keep, sizes
}

// natural returns the columns that are not empty, and the widths of all columns without cuts.
func (t Table) natural() (keep, sizes []int) {
	sizes = make([]int, len(t.Columns))
	for i, c := range t.Columns {
		sizes[i] = Cells(c.Title)
		empty := true
		for _, row := range t.Rows {
			sizes[i] = max(sizes[i], Cells(row[i]))
			empty = empty && row[i] == ""
		}
		if !empty || !c.Optional {
			keep = append(keep, i)
		}
	}
	return keep, sizes
}

// total returns the width of the whole table.
func total(keep, sizes []int) int {
	sum := 2 * (len(keep) - 1)
	for _, column := range keep {
		sum += sizes[column]
	}
	return sum
}

// heading is the row of the titles, which are not painted.
const heading = -1

// line renders a row. Its last cell is not padded.
func (t Table) line(row int, cells []string, keep, sizes []int) string {
	paint := func(column int, text string) string {
		if t.Paint == nil || text == "" || row == heading {
			return text
		}
		return t.Paint(row, column, text)
	}
	var b strings.Builder
	used := 0
	for i, column := range keep {
		if i == len(keep)-1 {
			b.WriteString(paint(column, t.last(cells[column], column, used, sizes[column])))
			break
		}
		b.WriteString(Pad(paint(column, t.cut(cells[column], column, sizes[column])), sizes[column]+2))
		used += sizes[column] + 2
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// last cuts or wraps the last cell of a line, which begins at a column of the screen.
func (t Table) last(text string, column, begins, width int) string {
	if !t.Columns[column].Wrap {
		return t.cut(text, column, width)
	}
	pad := strings.Repeat(" ", begins)
	return strings.TrimPrefix(Wrap(pad+text, begins+width, begins), pad)
}

// cut cuts a cell to the width of its column.
func (t Table) cut(text string, column, width int) string {
	const more = "…"
	if t.Columns[column].Middle {
		return CutMiddle(text, width, more)
	}
	return Cut(text, width, more)
}
