package ui

import (
	"slices"
	"strings"

	"mara/runner/internal/core/event"
)

// group holds back what is reported about a project until it ends.
type group struct {
	diagnostics []event.Diagnostic
	hooks       []string
}

// hold keeps an event of a running project, or prints its group when it ends.
// It says whether the event is dealt with.
func (p *Plain) hold(e event.Event) bool {
	switch e.Type {
	case event.StepStarted:
		p.groups[e.Project] = &group{}
		return false
	case event.StepFinished:
		p.printGroup(e)
		return true
	}
	g := p.groups[e.Project]
	if g == nil {
		return false
	}
	switch e.Type {
	case event.StepLog:
		g.log(event.Diagnostic{Severity: e.Severity, Message: e.Message, Resource: e.Resource})
	case event.RunWarning:
		g.log(event.Diagnostic{Severity: event.Warning, Message: e.Message})
	case event.HookFinished:
		g.hooks = append(g.hooks, "hook "+e.Hook+" "+string(e.Result))
	default:
		return false
	}
	return true
}

// log keeps a diagnostic, except those for debugging.
func (g *group) log(d event.Diagnostic) {
	if d.Severity != event.Debug && !slices.Contains(g.diagnostics, d) { // the engine repeats itself
		g.diagnostics = append(g.diagnostics, d)
	}
}

// printGroup prints how a project ended, what was reported, and what is to stand out.
func (p *Plain) printGroup(e event.Event) {
	g := p.groups[e.Project]
	delete(p.groups, e.Project)
	if g == nil {
		g = &group{}
	}
	body := g.render(p.paint)
	if p.o.GitHub && body != "" {
		p.command("group", "", p.outcome(e))
		p.print(body)
		p.command("endgroup", "", "")
		if e.Result == event.Failed {
			p.annotateErrors(e)
		}
	} else {
		p.finished(e, p.outcome(e))
		p.print(body)
	}
	for _, d := range g.diagnostics {
		if p.o.GitHub && d.Severity == event.Warning {
			p.annotate("warning", e.Project, oneLine(d))
		}
	}
}

// flushGroups prints what is held back of projects whose end is not recorded.
func (p *Plain) flushGroups() {
	for _, s := range p.summary.Steps {
		if g := p.groups[s.Name]; g != nil {
			delete(p.groups, s.Name)
			p.print(g.render(p.paint))
		}
	}
}

func (g *group) render(paint palette) string {
	var b strings.Builder
	for _, d := range g.diagnostics {
		heading := string(d.Severity)
		if r := d.Resource.String(); r != "" {
			heading += " " + r
		}
		b.WriteString("  " + paint.severity(d.Severity, heading) + "\n" + indented(d.Message, 4) + "\n")
	}
	for _, text := range g.hooks {
		b.WriteString("  " + paint.dim(text) + "\n")
	}
	return b.String()
}
