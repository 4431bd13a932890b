package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/graph"
	"mara/runner/internal/machine/typeset"
)

//go:embed report.html
var page string

//go:embed report.css
var style string

// Page is what a page of a run shows: the template of the report, and `runner web`.
type Page struct {
	*event.Summary
	Title    string
	Duration string
	Words    string
	Head     template.HTML
	Style    template.CSS
	Shares   []Share
	Rows     []Row
	Ticks    []Tick
	Failures []FailedRows
	Path     []Row // the critical one
	PathTime string
	Next     string      // the command that continues with what is left; "" if there is none
	Graph    graph.Graph // of the plan
}

// Row is a project wherever it appears on the page.
type Row struct {
	event.Step
	Result    event.Result
	Changes   string
	Time      string
	Needs     []Row // without needs of their own
	NeededBy  []Row
	Critical  bool
	Waited    bool // on the critical path: for a free place, and not for the step before it
	Bar       *Bar
	Before    *Bar // as long as it took the last time
	Last      string
	Hooks     []Bar
	Resources Resources
	Log       Log
	Outputs   []Output
	Alerts    []string
}

// FailedRows is why the projects of some rows have failed.
type FailedRows struct {
	Rows   []Row
	Errors []event.Diagnostic
}

// Share is a part of all projects, in percent.
type Share struct {
	Result event.Result
	N      int
	Left   template.CSS
	Width  template.CSS
}

// writeHTML writes one self-contained page without scripts: it loads nothing
// and works from a disk, an artefact store or a mail.
func writeHTML(w io.Writer, s *event.Summary, d Details) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"duration": event.FormatDuration,
		"sign":     func(a event.Action) string { return cmp.Or(Sign(a), " ") },
		"join":     func(words []string) string { return strings.Join(words, ", ") },
		"lines":    ChangedLines,
		"visible":  typeset.Visible,
		"place":    model.Place,
	}).Parse(page)
	if err != nil {
		return fmt.Errorf("parsing the report's template: %w", err)
	}
	return t.Execute(w, NewPage(s, d))
}

// NewPage prepares the page of a run.
func NewPage(s *event.Summary, d Details) Page {
	scale := newTimeline(s)
	path := criticalPath(s)
	data := Page{
		Summary: s, Title: title(s), Duration: event.FormatDuration(s.Duration()), Words: s.Changes.Words(s.Operation),
		Ticks: scale.ticks(), Shares: shares(s), Next: continuation(s),
	}
	for _, step := range s.Steps {
		row := scale.row(step)
		if s.Fleet && !event.EndsWave(step.Name) { // whose titles name their wave
			row.Title = step.Name
		}
		row.Title = typeset.Visible(row.Title)
		row.Critical = slices.Contains(path, step.Name)
		if last := d.Before[step.Name]; last > 0 && row.Bar != nil {
			row.Last = event.FormatDuration(last)
			row.Before = scale.bar(step.Started, last, row.Last+" the last time")
		}
		row.Resources, row.Log, row.Outputs = d.Resources[step.Name], d.Logs[step.Name], d.Outputs[step.Name]
		data.Rows = append(data.Rows, row)
	}
	data.connect()
	data.warn()
	data.explain()
	data.follow(path)
	if len(s.Steps) > 0 {
		data.Graph = data.graph(path)
	}
	whole := graph.Style + style + boardStyle + data.Graph.Pointing()
	data.Head, data.Style = template.HTML(graph.Head(whole)), template.CSS(whole)
	return data
}

// Compares reports whether the timeline shows what took how long before.
func (p Page) Compares() bool {
	return slices.ContainsFunc(p.Rows, func(row Row) bool { return row.Before != nil })
}

// Loss is a resource that a preview would replace or delete, or that is gone.
type Loss struct {
	Project string
	event.Difference
}

// Losses returns what is lost, in the order of the plan.
func (p Page) Losses() []Loss { return lossesOf(p.Summary) }

func lossesOf(s *event.Summary) (all []Loss) {
	for _, step := range s.Steps {
		for _, d := range step.Differences {
			if d.IsLoss() {
				all = append(all, Loss{step.Name, d})
			}
		}
	}
	return all
}

// ChangedLines renders the lines of a text that differ, with signs.
func ChangedLines(c event.ValueChange) string {
	var b strings.Builder
	before, after := c.Lines()
	for _, line := range before {
		b.WriteString("- " + line + "\n")
	}
	for _, line := range after {
		b.WriteString("+ " + line + "\n")
	}
	return b.String()
}

// continuation returns the command that continues a run which has changed something and did not come to its end.
func continuation(s *event.Summary) string {
	unfinished := s.Outcome() == event.Failed || s.Outcome() == event.Interrupted || s.Outcome() == event.Cancelled
	if s.Fleet || !s.Operation.Writes() || !unfinished {
		return ""
	}
	command := fmt.Sprintf("runner %s -s %s --resume", s.Operation, s.Stack)
	if s.Simulated {
		command += " --simulate"
	}
	return command
}

// Picture returns the picture of the plan.
func (p Page) Picture() template.HTML { return template.HTML(p.Graph.Still()) } // which escapes what it is given

// row returns the row of a project, or nil if the page has none.
func (p *Page) row(project string) *Row {
	if _, position := p.Step(project); position > 0 {
		return &p.Rows[position-1]
	}
	return nil
}

// connect fills in what each project needs and is needed by.
func (p *Page) connect() {
	for i := range p.Rows {
		for _, name := range p.Rows[i].All() {
			if need := p.row(name); need != nil {
				p.Rows[i].Needs = append(p.Rows[i].Needs, Row{Step: need.Step})
				need.NeededBy = append(need.NeededBy, Row{Step: p.Rows[i].Step})
			}
		}
	}
}

// explain tells why projects have failed.
func (p *Page) explain() {
	for _, f := range p.Summary.Failures() {
		rows := lists.Map(f.Steps, func(step event.Step) Row { return *p.row(step.Name) })
		p.Failures = append(p.Failures, FailedRows{Rows: rows, Errors: f.Errors})
	}
}

// warn puts every warning next to its project, too.
func (p *Page) warn() {
	for i := range p.Rows {
		for _, d := range p.Rows[i].Diagnostics {
			if d.Severity == event.Warning {
				p.Rows[i].Alerts = append(p.Rows[i].Alerts, d.Text(": "))
			}
		}
	}
	for _, a := range p.Warnings {
		if row := p.row(a.Project); row != nil {
			row.Alerts = append(row.Alerts, a.Message)
		}
	}
}

// follow fills in the critical path.
func (p *Page) follow(path []string) {
	var total time.Duration
	for i, name := range path {
		row := *p.row(name)
		total += row.Duration()
		row.Waited = i > 0 && !slices.Contains(row.All(), path[i-1])
		p.Path = append(p.Path, row)
	}
	p.PathTime = event.FormatDuration(total)
}

// graph returns the picture of the plan, with the result of every project.
func (p *Page) graph(path []string) graph.Graph {
	g := graph.Graph{Title: fmt.Sprintf("What the %d %ss of this run need of each other", len(p.Rows), p.Noun())}
	for _, row := range p.Rows {
		text := string(row.Result)
		if row.Time != "" {
			text += ", " + row.Time
		}
		g.Nodes = append(g.Nodes, graph.Node{
			ID: row.Name, Title: row.Title, Text: text, State: string(row.Result), Link: "#project-" + row.Name,
			Label: row.Label() + ": " + text, Marked: row.Critical,
		})
		on := slices.Index(path, row.Name)
		for _, name := range row.All() {
			g.Edges = append(g.Edges, graph.Edge{
				From: name, To: row.Name, Dashed: !slices.Contains(row.Reads, name), Marked: on > 0 &&
					path[on-1] == name,
			})
		}
	}
	return g
}

// shares counts the projects by result.
func shares(s *event.Summary) []Share {
	var out []Share
	left := 0.0
	steps := slices.DeleteFunc(slices.Clone(s.Steps), func(step event.Step) bool { return event.EndsWave(step.Name) })
	for _, r := range []event.Result{event.Succeeded, event.Failed, event.Cancelled, event.Interrupted,
		event.Skipped} {
		n := 0
		for _, step := range steps {
			if result(step) == r {
				n++
			}
		}
		if n > 0 {
			const gap = 0.003 // between two parts
			part := float64(n) / float64(len(steps))
			out = append(out, Share{Result: r, N: n, Left: percentage(left), Width: percentage(max(part-gap, gap))})
			left += part
		}
	}
	return out
}

// Sign returns the sign that Pulumi prints before a resource for an action; "" if there is none.
func Sign(a event.Action) string {
	signs := map[event.Action]string{event.Create: "+", event.Import: "+", event.Update: "~", event.Replace: "±",
		event.Delete: "-"}
	return signs[a]
}
