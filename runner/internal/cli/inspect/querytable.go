package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/guard/query"
	"mara/runner/internal/machine/typeset"
)

func writeQueries(d cmd.Deps, o queryOptions, all []query.Named) error {
	switch o.Output {
	case "json":
		return cmd.WriteJSON(d.Stdout, all)
	case "ndjson":
		return writeLines(d.Stdout, all)
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "NAME"}, {Title: "READS"},
		{Title: "SUMMARY", Min: 20, Wrap: true}}}
	var rows [][]any
	for _, n := range all {
		rows = append(rows, []any{n.Name, reads(n), n.Summary})
	}
	if o.Output == "csv" {
		return writeCSV(d.Stdout, []string{"name", "reads", "summary"}, rows)
	}
	table.Rows = cells(rows)
	_, err := io.WriteString(d.Stdout, table.Text(d.Width()))
	return err
}

func reads(n query.Named) string {
	switch {
	case n.State && n.Live:
		return "state, live"
	case n.Live:
		return "live"
	}
	return "state"
}

// writeResults prints the results of a query.
func writeResults(d cmd.Deps, o queryOptions, results []any, columns []string) error {
	switch o.Output {
	case "json":
		if results == nil {
			results = []any{}
		}
		return cmd.WriteJSON(d.Stdout, results)
	case "ndjson":
		return writeLines(d.Stdout, results)
	}
	titles, rows, ok := query.Rows(results, columns)
	if o.Output == "csv" {
		if !ok {
			return errors.New("csv needs objects as results; use -o ndjson for other values")
		}
		return writeCSV(d.Stdout, titles, rows)
	}
	if o.Simulation.On {
		fmt.Fprint(d.Stdout, "[SIMULATED]\n\n")
	}
	if len(results) == 0 {
		_, err := fmt.Fprintln(d.Stdout, "no results")
		return err
	}
	if ok {
		return writeRows(d.Stdout, titles, rows, d.Width())
	}
	for _, result := range results {
		if _, err := fmt.Fprintln(d.Stdout, typeset.Visible(typeset.Value(result))); err != nil {
			return err
		}
	}
	return nil
}

func writeRows(w io.Writer, titles []string, rows [][]any, width int) error {
	table := typeset.Table{Rows: cells(rows)}
	for i, title := range titles {
		table.Columns = append(table.Columns, typeset.Column{Title: strings.ToUpper(title), Min: 10,
			Wrap: i == len(titles)-1})
	}
	_, err := io.WriteString(w, table.Text(width))
	return err
}

// cells formats the values of a table.
func cells(rows [][]any) [][]string {
	all := make([][]string, len(rows))
	for i, row := range rows {
		for _, value := range row {
			all[i] = append(all[i], query.Cell(value))
		}
	}
	return all
}

func writeCSV(w io.Writer, titles []string, rows [][]any) error {
	heading := make([]any, len(titles))
	for i, title := range titles {
		heading[i] = title
	}
	for _, row := range slices.Insert(rows, 0, heading) {
		fields := make([]string, len(row))
		for i, value := range row {
			fields[i] = query.Field(value)
		}
		if _, err := fmt.Fprintln(w, strings.Join(fields, ",")); err != nil {
			return err
		}
	}
	return nil
}

// writeLines writes values as JSON, one on a line.
func writeLines[T any](w io.Writer, values []T) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for _, value := range values {
		if err := encoder.Encode(value); err != nil {
			return err
		}
	}
	return nil
}
