// Package ask has the page of queries: the named ones, and a box for jq.
package ask

import (
	"bytes"
	"embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"mara/config/lists"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/report"
	"mara/runner/internal/feature/web/page"
)

const (
	queryTime = "10s"  // for a query to compute
	mostRows  = 10_000 // of results
	mostShown = 500    // of results on the page
)

//go:embed *.html
var templates embed.FS

// Pages returns the page of queries.
func Pages() page.Pages {
	return page.Pages{Templates: templates, Routes: map[string]page.Show{"/ask": show}}
}

// askPage is what the page of queries shows.
type askPage struct {
	Queries  []query.Named
	Query    string
	Named    *query.Named
	Titles   []string
	Rows     [][]string
	Lines    []string
	N        int
	Asked    bool
	Error    string
	CSV      string
	Examples []example
	// Incomplete says why not all environments have answered; "" if they have.
	Incomplete string
	Command    string
}

// example is a query that fills the box.
type example struct{ Query, Finds string }

// examples are queries that any root can ask.
func examples() []example {
	return []example{
		{`.items[] | select(.type | test("Bucket|Secret")) | {environment, project, name}`, "resources of some types"},
		{`.items[] | select(.inputs | tostring | contains("0.0.0.0/0")) | {environment, project, name}`, "what mentions a value"},
		{`[.items[] | select(.modified)] | sort_by(.modified) | reverse | limit(20; .[]) | {modified, environment, project, name}`, "what changed last"},
	}
}

// show shows the page of queries: the named ones, and a box for jq.
func show(r *page.Visit) (page.Content, error) {
	all, err := query.All(r.Reader.Options().Root)
	data := askPage{Query: r.Query.Get("q")}
	if err != nil {
		data.Error = err.Error()
	}
	for _, named := range all {
		if page.IsAsked(named) {
			data.Queries = append(data.Queries, named)
		}
		if named.Name == data.Query {
			data.Named = &named
		}
	}
	if data.Query == "" && !r.Static {
		data.Examples = examples()
	}
	code := 0
	if data.Named != nil && !page.IsAsked(*data.Named) {
		return page.Content{}, page.Wrong("the query %s reads clusters, which these pages do not ask; run %s",
			data.Named.Name, r.Command("query", data.Named.Name))
	}
	if data.Query != "" {
		data.Asked = true
		data.Command = r.Command("query", data.Query)
		if code, err = data.answer(r); err != nil {
			data.Error = err.Error()
		}
		if len(data.Titles) > 0 {
			data.CSV = "/ask.csv?" + r.Query.Encode()
		}
	}
	return page.Content{Template: "ask.html", Title: "Ask", Nav: "ask", Code: code, Data: &data}, nil
}

// answer asks the query.
func (d *askPage) answer(r *page.Visit) (code int, err error) {
	output, err := r.Child.Run(r.Context(), "query", "-o", "json", "--max-time", queryTime, "--", d.Query)
	var results []any
	switch jsonErr := json.Unmarshal(output, &results); {
	case err != nil && jsonErr != nil:
		return http.StatusBadRequest, err
	case jsonErr != nil:
		return http.StatusInternalServerError, jsonErr
	case err != nil: // an environment that cannot be read hides no answers of the others
		d.Incomplete = err.Error()
	}
	d.N = len(results)
	if d.N > mostRows {
		return http.StatusBadRequest, fmt.Errorf("%d results; at most %d are shown, choose less", d.N, mostRows)
	}
	var columns []string
	if d.Named != nil {
		if compiled, err := query.Compile(d.Named.Source); err == nil {
			columns = compiled.Columns
		}
	}
	titles, rows, ok := query.Rows(results, columns)
	if !ok {
		d.Lines = lists.Map(results[:min(len(results), mostShown)], page.ShowValue)
		return 0, nil
	}
	d.Titles = titles
	for _, row := range rows[:min(len(rows), mostShown)] {
		d.Rows = append(d.Rows, lists.Map(row, func(value any) string { return page.Visible(query.Cell(value)) }))
	}
	return 0, nil
}

// CSV answers a query as a table for other programs.
func CSV(s *page.Site, w http.ResponseWriter, r *http.Request) {
	all, err := query.All(s.Reader.Options().Root)
	readsClusters := func(q query.Named) bool { return q.Name == r.URL.Query().Get("q") && !page.IsAsked(q) }
	if err == nil && slices.ContainsFunc(all, readsClusters) {
		http.Error(w, "this query reads clusters, which these pages do not ask", http.StatusBadRequest)
		return
	}
	output, err := s.Child.Run(r.Context(), "query", "-o", "csv", "--max-time", queryTime, "--", r.URL.Query().Get("q"))
	if err != nil { // a table of some environments would pass for one of all
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reader := csv.NewReader(bytes.NewReader(output))
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="answer.csv"`)
	out := csv.NewWriter(w)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = report.Tame(cell)
		}
		_ = out.Write(row) // Flush returns the error
	}
	out.Flush()
}
