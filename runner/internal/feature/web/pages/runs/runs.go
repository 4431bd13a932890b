// Package runs has the list of runs, and the page of a run: of one on an environment, or of one on many.
package runs

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/report"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/page"
)

//go:embed *.html
var templates embed.FS

// Pages returns the pages of runs.
func Pages() page.Pages {
	return page.Pages{Templates: templates, Routes: map[string]page.Show{
		"/runs":          list,
		"/r/{run}":       func(r *page.Visit) (page.Content, error) { return show(r, r.Reader.Runs, "/r/") },
		"/rollout/{run}": func(r *page.Visit) (page.Content, error) { return show(r, r.Reader.Rollouts, "/rollout/") },
	}}
}

// mostRuns is how many runs a list shows.
const mostRuns = 200

// runsPage is what the list of runs shows.
type runsPage struct {
	Runs                     []*view.Past
	Total                    int
	E, Op, Result, By, Since string
	Operations, Results      []string
	SinceWrong               string
}

// list shows the page of past runs. "Since yesterday, by whom" is one of its addresses.
func list(r *page.Visit) (page.Content, error) {
	all := append(r.Reader.Rollouts.Runs(), r.Reader.Runs.Runs()...)
	slices.SortStableFunc(all, func(a, b *view.Past) int { return b.Started.Compare(a.Started) })
	data := runsPage{E: r.Query.Get("e"), Op: r.Query.Get("op"), Result: r.Query.Get("result"), By: r.Query.Get("by"),
		Since: r.Query.Get("since"), Operations: []string{"", "up", "preview", "drift", "refresh", "destroy"},
		Results: []string{"", "running", "succeeded", "failed", "interrupted"}}
	code := 0
	if _, err := time.ParseDuration(data.Since); err != nil && data.Since != "" {
		data.SinceWrong, code = "since: "+err.Error()+"; a duration is wanted, such as 24h", 400
	}
	data.Runs = page.FilterRuns(r, all)
	data.Total = len(data.Runs)
	data.Runs = data.Runs[:min(len(data.Runs), mostRuns)]
	return page.Content{Template: "runs.html", Title: "Runs", Nav: "runs", Live: true, Refresh: 10, Code: code,
		Data: data}, nil
}

// runPage is what the page of a run shows.
type runPage struct {
	report.Page
	Past     *view.Past
	Rollout  bool
	Base     string // address of the run
	Rows     []runRow
	Now      []runRow
	Done     int
	Of       int
	Counts   []countRow
	Picture  template.HTML
	Board    template.HTML // of a rollout
	Path     []report.Row
	Commands []page.Advice
	Elapsed  time.Duration
	Stopping string
}

// runRow is a project, or an environment, of a run.
type runRow struct {
	report.Row
	Is    string // result, or how far it is
	Doing string // the last thing that was said about it
	Since time.Duration
	Seen  int // resources that something has happened to
	Link  string
	More  int // changes and warnings that the page does not show while the run goes on
}

// countRow is a part of the bar that shows how far a run is.
type countRow struct {
	Is    string
	N     int
	X, W  string
	Class string
}

// show shows the page of a run of a history, or of an operation on many environments; the addresses have a prefix.
func show(r *page.Visit, from *view.History, base string) (page.Content, error) {
	id := r.PathValue("run")
	past := from.Find(id)
	if past == nil {
		return page.Content{}, page.NotFound("no run %q; runs are pruned after a while", page.Visible(id))
	}
	detailed, err := from.Read(id)
	if err != nil {
		return page.Content{}, page.NotFound("the run %s cannot be read: %v", id, err)
	}
	s := detailed.Summary
	data := runPage{Past: past, Rollout: past.Fleet, Base: base + url.PathEscape(id), Stopping: s.Stopping}
	live := !past.Ended()
	if live || past.CutOff { // so that the time line ends now, or with the last sign of life
		end := r.Now
		if past.CutOff {
			end = s.Started.Add(past.Duration())
		}
		s.Finished, s.DurationMS = end, end.Sub(s.Started).Milliseconds()
	}
	var more []int
	if live {
		more = shorten(&s)
	}
	detailed.Details.Before = timesBefore(from, past, &s)
	data.Elapsed = s.Duration()
	data.Page = report.NewPage(&s, detailed.Details)
	data.Path = data.Page.Path
	for i, row := range data.Page.Rows {
		data.addRow(row, past, r.Now)
		if live {
			data.Rows[i].More = more[i]
		}
	}
	data.count()
	g := data.Page.Graph
	for i := range g.Nodes {
		row := data.Rows[i]
		g.Nodes[i].Link, g.Nodes[i].State = row.Link, cmp.Or(map[string]string{"waiting": "skipped",
			"never ran": "skipped", "cut off": "interrupted"}[row.Is], row.Is)
		g.Nodes[i].Text = strings.TrimPrefix(g.Nodes[i].Text, string(event.Interrupted)+", ")
		if row.Row.Step.Result == "" {
			g.Nodes[i].Text = row.Is
		}
		g.Nodes[i].Title = page.Visible(g.Nodes[i].Title)
		g.Nodes[i].Label = "" // title and text
	}
	if len(g.Nodes) > 0 && len(g.Nodes) <= 120 {
		data.Picture = template.HTML(g.SVG()) // which escapes what it is given
	}
	if !live && s.Outcome() != event.Succeeded && (s.Operation.Deploys() || s.Operation.Destroys()) {
		words := []string{string(s.Operation), "-s", s.Stack, "--resume"}
		if past.Fleet {
			words = []string{"fleet", string(s.Operation), "--resume"}
		}
		data.Commands = append(data.Commands, page.Advice{Why: "Continue with what is left", Command: r.Command(words...)})
	}
	if !live {
		data.Done = len(s.Standing().Done)
	}
	what := s.Stack
	if past.Fleet {
		data.Board = data.board(r.Now)
		what = "the fleet"
	}
	title := page.Visible(fmt.Sprintf("%s of %s, %s", s.Operation, what, past.Word()))
	content := page.Content{Template: "run.html", Title: title, Nav: "runs", Live: live, Data: &data}
	if live {
		content.Refresh = 5
	}
	return content, nil
}

// mostLive is how many changes, and how many warnings, of a project the page of a run shows while it goes on. All of it is sent
// again with each that comes, so that the page of twenty thousand took more than the run itself.
const mostLive = 200

// timesBefore returns how long each project took in the last run before one.
func timesBefore(from *view.History, past *view.Past, s *event.Summary) map[string]time.Duration {
	const most = 5 // runs that are read
	var before journal.Past
	for _, run := range from.Runs() { // the newest first
		if len(before) == most {
			break
		}
		if run.Stack != past.Stack || run.Operation != past.Operation || !run.Started.Before(past.Started) || !run.Ended() || run.CutOff {
			continue
		}
		if summary, err := from.Summary(run.ID); err == nil {
			before = append(before, summary)
		}
	}
	return before.TimesBefore(s)
}

// board draws the waves of a rollout.
func (d *runPage) board(now time.Time) template.HTML {
	rows := map[string]runRow{}
	for _, row := range d.Rows {
		rows[row.Name] = row
	}
	return report.Board(d.Page.Columns(func(row report.Row) report.Card {
		one := rows[row.Name]
		card := report.Card{Name: row.Name, Is: one.Is, Class: page.Class(one.Is), Time: row.Time, Reason: page.Short(row.Reason, 80), Link: one.Link}
		if one.Since > 0 {
			card.Time = event.FormatDuration(one.Since)
		}
		return card
	}, now))
}

// Stopped returns what did not run because of a project.
func (d *runPage) Stopped(name string) (names []string) {
	for _, row := range d.Rows {
		if row.Step.Result != event.Failed && slices.Contains(row.Step.Causes, name) {
			names = append(names, row.Name)
		}
	}
	return names
}

// LastLines returns the last lines of a project's log that the page has, before the error that is shown above them.
func (d *runPage) LastLines(name string) string {
	const most = 5
	for _, row := range d.Rows {
		if row.Name == name {
			lines := strings.Split(strings.TrimRight(row.Log.Text, "\n"), "\n")
			return strings.Join(lines[max(0, len(lines)-most):], "\n")
		}
	}
	return ""
}

// shorten leaves out what a page does not show yet, and returns how much that is of each step. Losses and errors stay.
func shorten(s *event.Summary) (more []int) {
	for i := range s.Steps {
		step := &s.Steps[i]
		all := len(step.Differences) + len(step.Diagnostics)
		step.Differences = firstAnd(step.Differences, event.Difference.IsLoss)
		step.Diagnostics = firstAnd(step.Diagnostics, func(d event.Diagnostic) bool { return d.Severity == event.Error })
		more = append(more, all-len(step.Differences)-len(step.Diagnostics))
	}
	return more
}

// firstAnd returns the first of a list, and those after them that have to be shown.
func firstAnd[T any](all []T, isShown func(T) bool) []T {
	if len(all) <= mostLive {
		return all
	}
	some := slices.Clone(all[:mostLive])
	for _, one := range all[mostLive:] {
		if isShown(one) {
			some = append(some, one)
		}
	}
	return some
}

// addRow adds a step.
func (d *runPage) addRow(row report.Row, past *view.Past, now time.Time) {
	one := runRow{Row: row, Is: page.ResultOf(row.Step, past), Seen: len(row.Resources.List) + row.Resources.More}
	one.Link = d.Base + "/log/" + url.PathEscape(row.Name)
	if row.Step.Started.IsZero() {
		one.Link = d.Base + "#project-" + url.PathEscape(row.Name)
	}
	if d.Rollout {
		one.Link = "/e/" + url.PathEscape(row.Name)
		if row.Step.Run != "" {
			one.Link = "/r/" + url.PathEscape(row.Step.Run)
		}
		if event.EndsWave(row.Name) {
			one.Link = d.Base + "#timeline"
		}
	}
	if one.Is == "running" {
		one.Since = now.Sub(row.Step.Started)
		one.Doing = lastLine(row.Log.Text)
		if n := len(row.Resources.List); n > 0 {
			last := row.Resources.List[n-1]
			one.Doing = fmt.Sprintf("%s %s", last.Action, last.Resource.String())
		}
		for _, hook := range row.Step.Hooks {
			if hook.Result == "" {
				one.Doing = "hook " + hook.Name
			}
		}
		d.Now = append(d.Now, one)
	}
	d.Rows = append(d.Rows, one)
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// count fills in how far the run is.
func (d *runPage) count() {
	counts := map[string]int{}
	for _, row := range d.Rows {
		if event.EndsWave(row.Name) {
			continue
		}
		d.Of++
		counts[row.Is]++
		if row.Step.Result != "" {
			d.Done++
		}
	}
	x := 0.0
	for _, is := range []string{"succeeded", "failed", "cancelled", "interrupted", "cut off", "skipped", "running",
		"waiting", "never ran"} {
		if n := counts[is]; n > 0 {
			w := 100 * float64(n) / float64(d.Of)
			d.Counts = append(d.Counts, countRow{is, n, fmt.Sprintf("%.2f%%", x), fmt.Sprintf("%.2f%%",
				max(w-0.4, 0.3)), page.Class(is)})
			x += w
		}
	}
}
