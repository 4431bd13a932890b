// Package environments has the pages of one environment and of its projects.
package environments

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/graph"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/page"
	"mara/runner/internal/machine/typeset"
)

//go:embed *.html
var templates embed.FS

// Pages returns the pages of an environment.
func Pages() page.Pages {
	return page.Pages{Templates: templates, Routes: map[string]page.Show{
		"/e/{environment}":             of(overview),
		"/e/{environment}/{tab}":       of(tab),
		"/e/{environment}/p/{project}": of(project),
	}}
}

// environmentPage is what the pages of an environment share.
type environmentPage struct {
	view.Environment
	Tab         string
	Fleet       view.Fleet
	Contents    view.Contents
	ContentsErr string
	Picture     template.HTML
	News        bool // the picture has marks
	Steps       []stepRow
	Values      []view.Value
	Hidden      int
	All         bool
	Runs        []*view.Past
	Outputs     []outputRow
	Resources   []resourceRow
	Text        string
	Project     *stepRow
	Commands    []page.Advice
	Judged      page.Judged
	Bills       page.Bills
}

// stepRow is a project of the plan.
type stepRow struct {
	event.Project
	Result    string // of the last run that was about it
	Run       string // that run
	Started   time.Time
	Took      time.Duration
	Resources []view.Resource
	Outputs   []outputRow
	Deployed  bool
	Readers   []string
	Drift     int
	Log       bool
}

type outputRow struct {
	Project, Name string
	Value         any
}

type resourceRow struct {
	Project string
	view.Resource
}

// Counted returns how many resources the project has, as operations count them.
func (s stepRow) Counted() int { return view.Counted(s.Resources) }

// of returns a function that shows a page of the environment of a request.
func of(show func(*page.Visit, *environmentPage) (page.Content, error)) page.Show {
	return func(r *page.Visit) (page.Content, error) {
		name := r.PathValue("environment")
		e, ok := r.Fleet.Named(name)
		if !ok {
			return page.Content{}, page.NotFound("no environment %q", page.Visible(name))
		}
		data := environmentPage{Environment: *e, Fleet: r.Fleet}
		var err error
		if data.Contents, err = r.Reader.Contents(r.Context(), name); err != nil {
			data.ContentsErr = err.Error()
		}
		data.Runs = slices.DeleteFunc(r.Reader.Runs.Runs(), func(run *view.Past) bool { return run.Stack != name })
		data.advise(r)
		return show(r, &data)
	}
}

// overview shows the first page of an environment.
func overview(r *page.Visit, data *environmentPage) (page.Content, error) {
	data.Tab = "overview"
	data.steps(r)
	if len(data.Steps) > 0 {
		news := r.Reader.News(data.Environment, data.Contents)
		for _, one := range news {
			data.News = data.News || len(one.Changed)+len(one.Drifted) > 0
		}
		data.Picture = template.HTML(data.graph(news).SVG()) // which escapes what it is given
	}
	data.Runs = data.Runs[:min(5, len(data.Runs))]
	return data.content(), nil
}

func (d *environmentPage) content() page.Content {
	return page.Content{Template: "environment.html", Title: d.Name + ", " + string(d.State), Nav: "fleet", Live: true,
		Refresh: 10, Data: d}
}

// tab shows a further page of an environment.
func tab(r *page.Visit, data *environmentPage) (page.Content, error) {
	data.Tab, data.Text = r.PathValue("tab"), r.Query.Get("q")
	switch data.Tab {
	case "resources":
		for _, name := range slices.Sorted(maps.Keys(data.Contents.Projects)) {
			for _, resource := range data.Contents.Projects[name].Resources {
				if page.HasWords(data.Text, name, resource.Type, resource.Name, resource.ID) {
					data.Resources = append(data.Resources, resourceRow{name, resource})
				}
			}
		}
	case "outputs":
		for _, name := range slices.Sorted(maps.Keys(data.Contents.Projects)) {
			data.Outputs = append(data.Outputs, outputsOf(name, data.Contents.Projects[name])...)
		}
	case "config":
		data.All = r.Query.Get("all") != ""
		values, err := view.OpenValues(r.Reader.Options().Of(data.Name))
		if err != nil {
			data.ContentsErr = err.Error()
			break
		}
		data.Values, data.Hidden = values.List(data.All)
	case "checks":
		if !r.Static {
			data.Judged, data.Bills = r.Judge(data.Name), r.Bill(data.Name)
		}
	case "history":
		data.Runs = page.FilterRuns(r, data.Runs)
	default:
		return page.Content{}, page.NotFound("no page %q of an environment", page.Visible(data.Tab))
	}
	c := data.content()
	if data.Tab == "checks" { // what is computed on request is not computed again every second
		c.Live, c.Refresh = false, 0
	}
	return c, nil
}

func outputsOf(name string, p view.ProjectContents) (rows []outputRow) {
	for _, output := range slices.Sorted(maps.Keys(p.Outputs)) {
		rows = append(rows, outputRow{name, output, p.Outputs[output]})
	}
	return rows
}

// project shows the page of a project of an environment.
func project(r *page.Visit, data *environmentPage) (page.Content, error) {
	data.steps(r)
	name := r.PathValue("project")
	at := slices.IndexFunc(data.Steps, func(s stepRow) bool { return s.Name == name })
	if at < 0 {
		return page.Content{}, page.NotFound("%s has no project %q", data.Name, page.Visible(name))
	}
	data.Project = &data.Steps[at]
	return page.Content{Template: "project.html", Title: name + " of " + data.Name, Nav: "fleet", Live: true,
		Refresh: 10, Data: data}, nil
}

// steps fills in the projects, with what last ran of each. Where a run has skipped a project, its page says "skipped"; that no run
// has ever done the project is "never ran", and only this page can tell.
func (d *environmentPage) steps(r *page.Visit) {
	for _, step := range d.Contents.Steps {
		row := stepRow{Project: step, Result: "never ran", Readers: d.Contents.Readers(step.Name)}
		if c, ok := d.Contents.Projects[step.Name]; ok && len(c.Resources) > 0 {
			row.Deployed, row.Resources, row.Outputs = true, c.Resources, outputsOf(step.Name, c)
		}
		if d.Drift != nil && !d.Drift.Void {
			for _, project := range d.Drift.Projects {
				if project.Name == step.Name {
					row.Drift = max(len(project.Differences), project.Changes.Total()-project.Changes.Same)
				}
			}
		}
		d.Steps = append(d.Steps, row)
	}
	d.lastRuns(r)
}

// mostLooked is how many runs are looked at to find what last ran of each project.
const mostLooked = 8

// lastRuns finds the last run of each project among the newest runs.
func (d *environmentPage) lastRuns(r *page.Visit) {
	looked := 0
	for _, run := range d.Runs {
		if looked == mostLooked || !run.Operation.Writes() {
			continue
		}
		looked++
		detailed, err := r.Reader.Runs.Summary(run.ID)
		if err != nil {
			continue
		}
		for i := range d.Steps {
			row := &d.Steps[i]
			step, _ := detailed.Step(row.Name)
			if step == nil || row.Run != "" || step.Result == event.Skipped && step.Unchanged == "" &&
				!step.Ran() && len(step.Causes) == 0 {
				continue
			}
			row.Run, row.Started, row.Took, row.Log = run.ID, step.Started, step.Duration(), !step.Started.IsZero()
			row.Result = page.ResultOf(*step, run)
			if step.Unchanged != "" {
				row.Result = "unchanged"
			}
		}
	}
}

// graph returns the plan as a picture, in the colours of the last results, with what has happened since.
func (d *environmentPage) graph(news map[string]plan.News) graph.Graph {
	g := graph.Graph{Title: fmt.Sprintf("What the %d projects of %s need of each other", len(d.Steps), d.Name)}
	for _, step := range d.Steps {
		state := map[string]string{"unchanged": "succeeded", "never ran": "skipped", "waiting": "skipped",
			"cut off": "interrupted"}[step.Result]
		text := step.Result
		if n := step.Counted(); n > 0 {
			text += ", " + typeset.Counted(n, "resource")
		}
		title := cmp.Or(step.Title, step.Name)
		node := graph.Node{
			ID: step.Name, Title: page.Visible(title), Text: text, State: cmp.Or(state, step.Result),
			Label: step.Label() + ": " + text, Link: "/e/" + url.PathEscape(d.Name) + "/p/" + url.PathEscape(step.Name),
		}
		news[step.Name].Mark(&node)
		g.Nodes = append(g.Nodes, node)
		for _, need := range step.All() {
			g.Edges = append(g.Edges, graph.Edge{From: need, To: step.Name, Dashed: !slices.Contains(step.Reads,
				need)})
		}
	}
	return g
}

// advise says what a user may do next, as commands to copy. Nothing is started from here.
func (d *environmentPage) advise(r *page.Visit) {
	add := func(why string, words ...string) {
		d.Commands = append(d.Commands, page.Advice{Why: why, Command: r.Command(words...)})
	}
	switch d.State {
	case view.Failed, view.Unfinished:
		op := "up"
		if w := d.Lately.Write; w != nil {
			op = string(w.Operation)
		}
		if op == "up" || op == "destroy" {
			add("Continue with what is left", op, "-s", d.Name, "--resume")
		}
	case view.Locked:
		add("See who holds what", "status", "-s", d.Name)
	case view.Unknown:
		add("See what is wrong with its files", "check", d.Name)
	case view.Drifted:
		add("See what differs now", "drift", "-s", d.Name)
	case view.NeverRolledOut, view.Destroyed, view.Changed, view.Partly, view.UpToDate, view.Running, view.Waiting:
	}
	if d.State != view.Running && d.Error == "" {
		add("See what up would change", "preview", "-s", d.Name)
	}
	if d.Drift == nil || d.Drift.Void {
		add("Compare it with its cloud", "drift", "-s", d.Name)
	}
}
