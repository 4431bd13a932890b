package pages

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"time"

	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/graph"
	"mara/runner/internal/workflow/view"
)

// environmentPage is what the pages of an environment share.
type environmentPage struct {
	view.Environment
	Tab         string
	Fleet       view.Fleet
	Contents    view.Contents
	ContentsErr string
	Picture     template.HTML
	Steps       []stepRow
	Values      []view.Value
	Hidden      int
	All         bool
	Runs        []*view.Past
	Outputs     []outputRow
	Resources   []resourceRow
	Text        string
	Project     *stepRow
	Commands    []advice
}

// advice is a command that a user may want to copy.
type advice struct {
	Why     string
	Command string
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
	Missing   bool
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

// named returns the environment of a request.
func (p *Pages) named(r *visit) (environmentPage, error) {
	name := r.PathValue("environment")
	e, ok := r.fleet.Named(name)
	if !ok {
		return environmentPage{}, notFound("no environment %q", visible(name))
	}
	data := environmentPage{Environment: *e, Fleet: r.fleet}
	var err error
	if data.Contents, err = p.o.Reader.Contents(r.Context(), name); err != nil {
		data.ContentsErr = err.Error()
	}
	for _, run := range p.o.Reader.Runs.Runs() {
		if run.Stack == name {
			data.Runs = append(data.Runs, run)
		}
	}
	data.advise(p)
	return data, nil
}

// overview shows the first page of an environment.
func (p *Pages) overview(r *visit) (content, error) {
	data, err := p.named(r)
	if err != nil {
		return content{}, err
	}
	data.Tab = "overview"
	data.steps(p)
	if len(data.Steps) > 0 {
		data.Picture = template.HTML(data.graph().Bare()) // which escapes what it is given
	}
	data.Runs = data.Runs[:min(5, len(data.Runs))]
	return data.content(), nil
}

func (d *environmentPage) content() content {
	return content{template: "environment.html", title: d.Name + ", " + string(d.State), nav: "fleet", live: true,
		refresh: 10, data: d}
}

// tab shows a further page of an environment.
func (p *Pages) tab(r *visit) (content, error) {
	data, err := p.named(r)
	if err != nil {
		return content{}, err
	}
	data.Tab, data.Text = r.PathValue("tab"), r.query.Get("q")
	switch data.Tab {
	case "resources":
		for _, name := range slices.Sorted(maps.Keys(data.Contents.Projects)) {
			for _, resource := range data.Contents.Projects[name].Resources {
				if hasWords(data.Text, name, resource.Type, resource.Name, resource.ID) {
					data.Resources = append(data.Resources, resourceRow{name, resource})
				}
			}
		}
	case "outputs":
		for _, name := range slices.Sorted(maps.Keys(data.Contents.Projects)) {
			data.Outputs = append(data.Outputs, outputsOf(name, data.Contents.Projects[name])...)
		}
	case "config":
		data.All = r.query.Get("all") != ""
		values, err := view.OpenValues(p.o.Reader.Options().Of(data.Name))
		if err != nil {
			data.ContentsErr = err.Error()
			break
		}
		data.Values, data.Hidden = values.List(data.All)
	case "history":
		data.Runs = filterRuns(r, data.Runs)
	default:
		return content{}, notFound("no page %q of an environment", visible(data.Tab))
	}
	return data.content(), nil
}

func outputsOf(name string, p view.ProjectContents) (rows []outputRow) {
	for _, output := range slices.Sorted(maps.Keys(p.Outputs)) {
		rows = append(rows, outputRow{name, output, p.Outputs[output]})
	}
	return rows
}

// project shows the page of a project of an environment.
func (p *Pages) project(r *visit) (content, error) {
	data, err := p.named(r)
	if err != nil {
		return content{}, err
	}
	data.steps(p)
	name := r.PathValue("project")
	for i := range data.Steps {
		if data.Steps[i].Name == name {
			data.Project = &data.Steps[i]
		}
	}
	if data.Project == nil {
		return content{}, notFound("%s has no project %q", data.Name, visible(name))
	}
	return content{template: "project.html", title: name + " of " + data.Name, nav: "fleet", live: true,
		refresh: 10, data: data}, nil
}

// steps fills in the projects, with what last ran of each.
func (d *environmentPage) steps(p *Pages) {
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
	d.lastRuns(p)
}

// mostLooked is how many runs are looked at to find what last ran of each project.
const mostLooked = 8

// lastRuns finds the last run of each project among the newest runs.
func (d *environmentPage) lastRuns(p *Pages) {
	looked := 0
	for _, run := range d.Runs {
		if looked == mostLooked || !run.Operation.Writes() {
			continue
		}
		looked++
		detailed, err := p.o.Reader.Runs.Summary(run.ID)
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
			row.Result = stepResult(*step, run)
			if step.Unchanged != "" {
				row.Result = "unchanged"
			}
		}
	}
}

// stepResult returns how a step ended, or how far it is.
func stepResult(step event.Step, run *view.Past) string {
	switch {
	case step.Result != "":
		return string(step.Result)
	case !run.Ended() && step.Started.IsZero():
		return "waiting"
	case !run.Ended():
		return "running"
	case step.Started.IsZero():
		return "never ran"
	}
	return "cut off"
}

// graph returns the plan as a picture, in the colours of the last results.
func (d *environmentPage) graph() graph.Graph {
	g := graph.Graph{Title: fmt.Sprintf("What the %d projects of %s need of each other", len(d.Steps), d.Name)}
	for _, step := range d.Steps {
		state := map[string]string{"unchanged": "succeeded", "never ran": "skipped", "waiting": "skipped",
			"cut off": "interrupted"}[step.Result]
		text := step.Result
		if n := len(step.Resources); n > 0 {
			text += ", " + typeset.Counted(n, "resource")
		}
		title := cmp.Or(step.Title, step.Name)
		g.Nodes = append(g.Nodes, graph.Node{
			ID: step.Name, Title: visible(title), Text: text, State: cmp.Or(state, step.Result),
			Link: "/e/" + url.PathEscape(d.Name) + "/p/" + url.PathEscape(step.Name),
		})
		for _, need := range step.All() {
			g.Edges = append(g.Edges, graph.Edge{From: need, To: step.Name, Dashed: !slices.Contains(step.Reads,
				need)})
		}
	}
	return g
}

// advise says what a user may do next, as commands to copy. Nothing is started from here.
func (d *environmentPage) advise(p *Pages) {
	add := func(why string, words ...string) { d.Commands = append(d.Commands, advice{why, p.command(words...)}) }
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
