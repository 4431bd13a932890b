// Package ui renders the events of a run for people and for machines.
//
// A renderer is an event.Sink over the reducer event.Summary: it prints what
// an event adds and, at the end, what the summary holds. It decides nothing
// about the run and knows no Pulumi. Plain is for pipes and CI and says
// everything in lines; JSON streams the events themselves.
package ui

import (
	"fmt"
	"io"
	"strings"

	"mara/runner/internal/event"
)

const (
	// narrow is the width below which titles give way to the project names
	// alone: those are what the user types.
	narrow = 64
	// mark stands on every screen of a simulation.
	mark = "[SIMULATED]"
)

// PlainOptions are the inputs of NewPlain.
type PlainOptions struct {
	// Width is the width to wrap at; zero means no wrapping, as for a file.
	Width int
	// Colour allows escape sequences for colours.
	Colour bool
	// Next returns the commands to suggest at the end; nil suggests none.
	Next func(*event.Summary) []string
}

// Plain renders a run as lines.
type Plain struct {
	o       PlainOptions
	out     printer
	paint   palette
	summary event.Summary
}

// NewPlain returns a renderer that writes to w.
func NewPlain(w io.Writer, o PlainOptions) *Plain {
	return &Plain{o: o, out: printer{w: w}, paint: palette{on: o.Colour}}
}

// Err returns the first error of writing. After it nothing more is written.
func (p *Plain) Err() error { return p.out.err }

// Emit prints what an event adds.
func (p *Plain) Emit(e event.Event) {
	p.summary.Apply(e)
	switch e.Type {
	case event.RunStarted:
		p.header()
	case event.RunStopping:
		p.stopping(e)
	case event.RunWarning:
		p.warning(e.Project, e.Message)
	case event.StepStarted:
		p.step(e, "started", p.paint.dim)
	case event.StepLog:
		if e.Severity == event.Warning {
			p.warning(e.Project, e.Message)
		}
	case event.HookFinished:
		p.hook(e)
	case event.StepFinished:
		p.finished(e)
	case event.RunFinished:
		p.print(ending{summary: &p.summary, paint: p.paint, width: p.o.Width}.render())
		p.next()
	}
}

// print writes a text that ends with its own line end.
func (p *Plain) print(text string) { p.out.write([]byte(text)) }

// line prints a line, wrapped.
func (p *Plain) line(text string, indent int, paint func(string) string) {
	p.print(paint(wrap(text, p.o.Width, indent)) + "\n")
}

// plural adds what a number of things is called.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (p *Plain) header() {
	s := &p.summary
	text := fmt.Sprintf("%s: provider %s, stack %s, %s, %d at a time",
		s.Operation, s.Provider, s.Stack, plural(len(s.Steps), "project", "projects"), s.Parallel)
	p.line(text, 2, p.paint.bold)
	if s.Simulated {
		p.line(mark+" stand-ins answer for every cloud; nothing real is touched", 2, p.paint.yellow)
	}
}

// label names a step with its place in the plan.
func (p *Plain) label(e event.Event) string {
	_, position := p.summary.Step(e.Project)
	total := fmt.Sprint(len(p.summary.Steps))
	name := fmt.Sprintf("%s (%s)", e.Title, e.Project)
	if e.Title == "" || p.o.Width > 0 && p.o.Width < narrow {
		name = e.Project
	}
	return fmt.Sprintf("[%*d/%s] %s", len(total), position, total, name)
}

// step prints what became of a step.
func (p *Plain) step(e event.Event, what string, paint func(string) string) {
	p.line(p.label(e)+": "+what, 8, paint)
}

func (p *Plain) finished(e event.Event) {
	paint := func(text string) string { return p.paint.result(e.Result, text) }
	took := event.FormatDuration(e.Duration())
	var c event.Changes
	if e.Changes != nil {
		c = *e.Changes
	}
	switch e.Result {
	case event.Succeeded:
		p.step(e, fmt.Sprintf("succeeded in %s, %s", took, c), paint)
	case event.Failed:
		p.step(e, fmt.Sprintf("FAILED after %s, %s", took, c), paint)
	default:
		what := fmt.Sprintf("%s, %s", e.Result, e.Reason)
		if c.Any() {
			what += fmt.Sprintf(" after %s, %s", took, c)
		}
		p.step(e, what, paint)
	}
}

// hook tells that a hook has done something outside of the environment, such
// as changing the user's kubeconfig. A failure is part of the step's error.
func (p *Plain) hook(e event.Event) {
	if e.Result == event.Succeeded {
		p.step(e, "hook "+e.Hook+" done", p.paint.dim)
	}
}

func (p *Plain) warning(project, message string) {
	text := "warning: "
	if project != "" {
		text += project + ": "
	}
	first, rest, more := strings.Cut(message, "\n")
	p.line(text+first, 2, p.paint.yellow)
	if more {
		p.print(indented(rest, 2) + "\n")
	}
}

// stopping says that nothing new starts and, once, how to go further.
func (p *Plain) stopping(e event.Event) {
	text := "stopping: " + e.Reason + "; nothing new starts"
	if len(e.Waiting) > 0 {
		text += "; waiting for " + names(e.Waiting)
	}
	if e.Reason == event.ReasonInterrupted && len(e.Waiting) > 0 {
		text += " (interrupt again to cancel)"
	}
	p.line(text, 2, p.paint.yellow)
}

func (p *Plain) next() {
	if p.o.Next == nil {
		return
	}
	commands := p.o.Next(&p.summary)
	if len(commands) == 0 {
		return
	}
	p.print("\nNext:\n" + indented(strings.Join(commands, "\n"), 2) + "\n") // not wrapped: to be copied
}
