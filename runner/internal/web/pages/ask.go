package pages

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"mara/runner/internal/environment/session"
	"mara/runner/internal/guard/query"
	"mara/runner/internal/workflow/view"
)

const (
	mostCommands = 2                // at the same time
	commandTime  = 30 * time.Second // for a command
	queryTime    = "10s"            // for a query to compute
	mostRows     = 10_000           // of results
	mostShown    = 500              // of results on the page
	mostOutput   = 64 << 20         // bytes
)

// errTooMuch ends a command that prints too much.
var errTooMuch = errors.New("the result is too large; choose less of it")

// Child returns a Command that runs the program again, so that a query that takes all memory takes a child's. The
// query itself is stopped after a time and at a size, as on the command line.
func Child(o session.Options) (Command, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, args ...string) ([]byte, error) {
		flags := []string{"--root", o.Root}
		if o.Simulation.On {
			flags = append(flags, "--simulate")
		}
		child := exec.CommandContext(ctx, self, append(flags, args...)...)
		child.Dir = o.Root
		child.Env = append(os.Environ(), "NO_COLOR=1", "GOMEMLIMIT=2GiB")
		stdout, stderr := &limited{most: mostOutput}, &limited{most: 1 << 20}
		child.Stdout, child.Stderr = stdout, stderr
		child.WaitDelay = time.Second
		err := child.Run()
		switch {
		case stdout.full:
			return nil, errTooMuch
		case ctx.Err() != nil:
			return nil, fmt.Errorf("it took longer than %s", commandTime)
		case err != nil:
			text := strings.TrimSpace(strings.TrimPrefix(stderr.String(), "error: "))
			return stdout.Bytes(), &failure{http.StatusBadRequest, text}
		}
		return stdout.Bytes(), nil
	}, nil
}

// limited keeps the beginning of an output.
type limited struct {
	bytes.Buffer
	most int
	full bool
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	if l.Len()+len(b) > l.most {
		l.full = true
		return 0, errTooMuch
	}
	return l.Buffer.Write(b)
}

// child runs a command of the runner, a few at the same time.
func (p *Pages) child(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-ctx.Done():
		return nil, errors.New("other queries still run; try again in a moment")
	}
	if p.o.Run == nil {
		return nil, errors.New("queries are not answered here")
	}
	return p.o.Run(ctx, args...)
}

// askPage is what the page of queries shows.
type askPage struct {
	Queries []query.Named
	Query   string
	Named   *query.Named
	Titles  []string
	Rows    [][]string
	Lines   []string
	N       int
	Asked   bool
	Error   string
	CSV     string
	// Incomplete says why not all environments have answered; "" if they have.
	Incomplete string
	Command    string
}

// ask shows the page of queries: the named ones, and a box for jq.
func (p *Pages) ask(r *visit) (content, error) {
	all, err := query.All(p.o.Reader.Options().Root)
	data := askPage{Query: r.query.Get("q")}
	if err != nil {
		data.Error = err.Error()
	}
	for _, named := range all {
		if named.State {
			data.Queries = append(data.Queries, named)
		}
		if named.Name == data.Query {
			data.Named = &named
		}
	}
	code := 0
	if data.Query != "" {
		data.Asked = true
		data.Command = p.command("query", data.Query)
		if code, err = data.answer(r.Context(), p); err != nil {
			data.Error = err.Error()
		}
		if len(data.Titles) > 0 {
			data.CSV = "/ask.csv?" + r.query.Encode()
		}
	}
	return content{template: "ask.html", title: "Ask", nav: "ask", code: code, data: &data}, nil
}

// answer asks the query.
func (d *askPage) answer(ctx context.Context, p *Pages) (code int, err error) {
	output, err := p.child(ctx, "query", "-o", "json", "--max-time", queryTime, "--", d.Query)
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
		for _, result := range results[:min(len(results), mostShown)] {
			d.Lines = append(d.Lines, showValue(result))
		}
		return 0, nil
	}
	d.Titles = titles
	for _, row := range rows[:min(len(rows), mostShown)] {
		cells := make([]string, len(row))
		for i, value := range row {
			cells[i] = visible(query.Cell(value))
		}
		d.Rows = append(d.Rows, cells)
	}
	return 0, nil
}

// askCSV answers a query as a table for other programs.
func (p *Pages) askCSV(w http.ResponseWriter, r *http.Request) {
	output, err := p.child(r.Context(), "query", "-o", "csv", "--max-time", queryTime, "--", r.URL.Query().Get("q"))
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
			row[i] = harmless(cell)
		}
		_ = out.Write(row) // Flush returns the error
	}
	out.Flush()
}

// harmless quotes a cell that a spreadsheet would take for a formula.
func harmless(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// comparePage is what the comparison of two environments shows.
type comparePage struct {
	Names   []string
	A, B    string
	Found   *view.Differences
	Error   string
	Command string
}

// compare shows the page that compares two environments.
func (p *Pages) compare(r *visit) (content, error) {
	data := comparePage{A: r.query.Get("a"), B: r.query.Get("b")}
	for _, e := range r.fleet.Environments {
		data.Names = append(data.Names, e.Name)
	}
	code := 0
	if data.A != "" && data.B != "" {
		for _, name := range []string{data.A, data.B} {
			if !slices.Contains(data.Names, name) {
				data.Error, code = fmt.Sprintf("no environment %q", visible(name)), http.StatusBadRequest
			}
		}
		if data.Error == "" {
			options := p.o.Reader.Options()
			found, err := view.Compare(r.Context(), p.o.Reader.Deps(), options, data.A, data.B)
			if data.Found = &found; err != nil {
				data.Error, data.Found, code = err.Error(), nil, http.StatusBadRequest
			}
			data.Command = p.command("config", "diff", data.A, data.B)
		}
	}
	return content{template: "compare.html", title: "Compare", nav: "compare", code: code, data: &data}, nil
}

// checksPage is what the page of drift and policy shows.
type checksPage struct {
	Rows     []view.Environment
	Never    []string
	Void     int
	Asked    bool
	Findings []finding
	Error    string
	Command  string
}

// finding is what a rule has found in an environment.
type finding struct {
	Environment string `json:"environment"`
	Rule        string `json:"rule"`
	Level       string `json:"level"`
	Message     string `json:"message"`
	Project     string `json:"project"`
	Type        string `json:"type"`
	Name        string `json:"name"`
}

// checks shows the page of the last comparisons with the clouds and, on request, of the rules.
func (p *Pages) checks(r *visit) (content, error) {
	data := checksPage{Asked: r.query.Get("rules") != "", Command: p.command("fleet", "drift")}
	for _, e := range r.fleet.Environments {
		switch {
		case e.Drift == nil:
			data.Never = append(data.Never, e.Name)
		default:
			if e.Drift.Void {
				data.Void++
			}
			data.Rows = append(data.Rows, e)
		}
	}
	slices.SortStableFunc(data.Rows, func(a, b view.Environment) int {
		return weight(b) - weight(a)
	})
	if data.Asked {
		output, err := p.child(r.Context(), "policy", "check", "-o", "json")
		var found *failure
		if jsonErr := json.Unmarshal(output, &data.Findings); jsonErr != nil && err == nil {
			err = jsonErr
		} else if jsonErr == nil && errors.As(err, &found) && found.text == "" {
			err = nil // findings that deny make it exit with a code
		}
		if err != nil {
			data.Error = err.Error()
		}
	}
	return content{template: "checks.html", title: "Drift and policy", nav: "checks", live: !data.Asked, refresh: 0,
		data: &data}, nil
}

// weight orders results of comparisons.
func weight(e view.Environment) int {
	if e.Drift.Void {
		return -1
	}
	return e.Drift.Resources()
}

// keys shows the page of the keyboard.
func (p *Pages) keys(*visit) (content, error) {
	return content{template: "keys.html", title: "Keyboard"}, nil
}
