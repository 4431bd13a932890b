package typeset

import (
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
)

// Table is a table with a heading, its columns two spaces apart.
type Table struct {
	Columns []Column
	Rows    [][]string
	// Paint may colour a cell after its width is settled; nil colours nothing.
	Paint func(row, column int, text string) string
}

// Column is a column of a table.
type Column struct {
	Title string
	// Min is the width to which the column may be cut; zero means that it is
	// never cut.
	Min int
	// Middle cuts the column in the middle: the ends tell similar names apart.
	Middle bool
	// Wrap lets the last column go on below itself instead of cutting it; Min is
	// then the least it gets.
	Wrap bool
	// Optional columns are the first to be cut when the table does not fit, go
	// away where not even their minimum does, and where they would be empty.
	Optional bool
}

// Text renders the table. To fit the width it cuts or gives up optional columns
// and then cuts the others, both from the right; with a width of zero it cuts
// nothing.
func (t Table) Text(width int) string {
	keep, sizes := t.fit(width)
	var b strings.Builder
	titles := slice.Map(t.Columns, func(c Column) string { return c.Title })
	b.WriteString(t.line(titles, keep, sizes, func(_ int, text string) string { return text }))
	for r, row := range t.Rows {
		b.WriteString(t.line(row, keep, sizes, func(column int, text string) string {
			if t.Paint == nil || text == "" {
				return text
			}
			return t.Paint(r, column, text)
		}))
	}
	return b.String()
}

// fit decides which columns stay and how wide each is.
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

// natural is how wide each column is by itself, and which have anything to show.
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

// total is the width of the whole table.
func total(keep, sizes []int) int {
	sum := 2 * (len(keep) - 1)
	for _, column := range keep {
		sum += sizes[column]
	}
	return sum
}

// line sets cells, the last one ragged.
func (t Table) line(cells []string, keep, sizes []int, paint func(column int, text string) string) string {
	var b strings.Builder
	used := 0
	for i, column := range keep {
		if i == len(keep)-1 {
			rest := t.last(cells[column], column, used, sizes[column])
			b.WriteString(paint(column, rest))
			break
		}
		b.WriteString(Pad(paint(column, t.cut(cells[column], column, sizes[column])), sizes[column]+2))
		used += sizes[column] + 2
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// last fits the last cell of a line, which begins at a column of the screen.
func (t Table) last(text string, column, begins, width int) string {
	if !t.Columns[column].Wrap {
		return t.cut(text, column, width)
	}
	pad := strings.Repeat(" ", begins)
	return strings.TrimPrefix(Wrap(pad+text, begins+width, begins), pad)
}

// cut fits a cell into its column.
func (t Table) cut(text string, column, width int) string {
	const more = "…"
	if t.Columns[column].Middle {
		return CutMiddle(text, width, more)
	}
	return Cut(text, width, more)
}
