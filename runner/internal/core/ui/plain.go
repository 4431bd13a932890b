// Package ui renders the events of a run for people and for machines.
//
// A renderer is an event.Sink over the reducer event.Summary: it prints what
// an event adds and, at the end, what the summary holds. It decides nothing
// about the run and knows no Pulumi. Plain is for pipes and CI and says
// everything in lines; JSON streams the events themselves.
package ui

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

const (
	// narrow is the width below which titles give way to the project names
	// alone: those are what the user types.
	narrow = 64
	// mark stands on every screen of a simulation.
	mark = "[SIMULATED]"
)

// Options are the inputs of NewPlain and NewLive.
type Options struct {
	List   List                          // how much a preview lists at its end
	Why    bool                          // list why each project ran or was skipped
	Colour bool                          // escape sequences for colours are allowed
	Next   func(*event.Summary) []string // the commands to suggest at the end; nil suggests none
	// Ticks is the clock. A live view is painted then; of lines, one tells now and
	// then what still runs while nothing else is printed, but never without a clock.
	Ticks <-chan time.Time

	// Of lines alone.
	Width int      // to wrap at; zero wraps nothing, as for a file
	Order LogOrder // of diagnostics; empty means Stream
	// GitHub writes for the log of GitHub Actions: what is grouped can be
	// folded, and failures and warnings become annotations.
	GitHub bool

	// Of a live view alone.
	// Size returns columns and lines of the terminal. It is asked before every
	// painting, so that no signal is needed; zeros stand for unknown.
	Size  func() (width, height int)
	ASCII bool // draws without characters beyond ASCII
	// Durations is how long the projects usually take, by name. Without them no
	// time left is shown.
	Durations map[string]time.Duration
	// Resources is how many resources the projects will have been through, by
	// name. A project has a bar if it is in it.
	Resources map[string]int
	// Ready reports whether the program of a project that waits has been started already; nil for none.
	Ready func(project string) bool
}

// Plain renders a run as lines.
type Plain struct {
	inLive bool // a live view, which prints the cause of a failure below its line
	o      Options
	stop   chan struct{} // closed by Close
	ended  sync.WaitGroup

	mu      sync.Mutex // guards what follows
	out     printer
	paint   palette
	summary event.Summary
	doing   activities
	groups  map[string]*group // of the projects that run
	silence silence
}

// NewPlain renders to w. With a clock, the caller must Close it.
func NewPlain(w io.Writer, o Options) *Plain {
	p := &Plain{
		o: o, stop: make(chan struct{}), out: printer{w: w}, paint: palette{on: o.Colour},
		doing: activities{}, groups: map[string]*group{},
	}
	if o.Ticks != nil {
		p.ended.Go(p.keepAlive)
	}
	return p
}

// Close stops the clock and prints what is held back. It may be called again.
func (p *Plain) Close() error {
	p.mu.Lock()
	select {
	case <-p.stop:
	default:
		close(p.stop)
	}
	p.mu.Unlock()
	p.ended.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushGroups()
	return p.out.err
}

// Suspend calls ask while nothing is printed. What would have been printed in the
// meantime follows.
func (p *Plain) Suspend(ask func()) {
	var later bytes.Buffer
	p.mu.Lock()
	out := p.out.w
	p.out.w = &later
	p.mu.Unlock()
	ask()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.w = out
	if later.Len() > 0 {
		p.out.write(later.Bytes())
	}
}

// Emit prints what an event adds.
func (p *Plain) Emit(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.summary.Apply(e)
	p.doing.apply(e)
	if p.o.Order == Grouped && p.hold(e) {
		return
	}
	switch e.Type {
	case event.RunStarted:
		p.header()
	case event.RunStopping:
		p.stopping(e)
	case event.RunWarning:
		if p.o.GitHub && e.Finding != nil {
			p.annotateFinding(*e.Finding, e.Message)
			break
		}
		p.warning(e.Project, e.Message)
	case event.StepStarted:
		p.step(e, "started", p.paint.dim)
	case event.StepLog:
		if e.Severity == event.Warning {
			p.warning(e.Project, e.Message)
		} else if strings.HasPrefix(e.Message, event.FromESC) {
			p.step(e, e.Message, p.paint.dim)
		}
	case event.StepRetrying:
		p.step(e, retrying(e)+": "+strings.Join(strings.Fields(e.Error), " "), p.paint.yellow)
	case event.HookFinished:
		if e.Result == event.Succeeded { // a failure is part of the step's error
			p.step(e, "hook "+e.Hook+" done", p.paint.dim)
		}
	case event.StepFinished:
		text := p.outcome(e)
		if step, _ := p.summary.Step(e.Project); step != nil && e.Result == event.Failed && !p.inLive { // the whole comes when all others have ended
			text += strings.TrimSuffix(": "+firstCause(*step), ": ")
		}
		p.finished(e, text)
	case event.RunFinished:
		p.flushGroups()
		p.print(ending{summary: &p.summary, paint: p.paint, width: p.o.Width, list: p.o.List, why: p.o.Why}.render())
		p.next()
	}
}

// print writes a text that ends with its own line end.
func (p *Plain) print(text string) {
	if p.o.GitHub {
		text = defuse(text)
	}
	p.silence.broken()
	p.out.write([]byte(text))
}

func (p *Plain) line(text string, indent int, paint func(string) string) {
	p.print(paint(typeset.Wrap(text, p.o.Width, indent)) + "\n")
}

func (p *Plain) header() {
	s := &p.summary
	where := model.Where(s.Provider, s.Stack)
	if s.Provider != model.OwnProvider {
		where = "provider " + where
	}
	text := fmt.Sprintf("%s: %s, %s, %d at a time", s.Operation, where, typeset.Counted(len(s.Steps), "project"), s.Parallel)
	if s.Fleet {
		_, environments := s.Progress()
		text = fmt.Sprintf("%s of a fleet: %s, %d at a time", s.Operation, typeset.Counted(environments, "environment"),
			s.Parallel)
	}
	p.line(text, 2, p.paint.bold)
	if s.Simulated {
		p.line(mark+" stand-ins answer for every cloud; nothing real is touched", 2, p.paint.yellow)
	}
	p.leftOut()
}

// label names a step with its place in the plan.
func (p *Plain) label(e event.Event) string {
	step, position := p.summary.Step(e.Project)
	if step == nil {
		return e.Project // a hook of the run
	}
	total := fmt.Sprint(len(p.summary.Steps))
	name := event.Project{Name: e.Project, Title: e.Title}.Label()
	if p.o.Width > 0 && p.o.Width < narrow {
		name = e.Project
	}
	return fmt.Sprintf("[%*d/%s] %s", len(total), position, total, name)
}

func (p *Plain) step(e event.Event, what string, paint func(string) string) {
	p.line(p.label(e)+": "+what, 8, paint)
}

func (p *Plain) finished(e event.Event, text string) {
	p.line(text, 8, func(text string) string { return p.paint.result(e.Result, text) })
	if e.Result == event.Failed {
		p.annotateErrors(e)
	}
}

func (p *Plain) outcome(e event.Event) string {
	took, changes := event.FormatDuration(e.Duration()), ""
	if e.Changes != nil { // else they are not counted
		changes = ", " + e.Changes.String()
	}
	what := ""
	switch e.Result {
	case event.Succeeded:
		what = "succeeded in " + took + changes
	case event.Failed:
		what = "FAILED after " + took + changes
	default:
		what = fmt.Sprintf("%s, %s", e.Result, e.Reason)
		if e.Changes != nil && e.Changes.Any() {
			what += " after " + took + changes
		}
	}
	return p.label(e) + ": " + what
}

// leftOut prints what does not take part in the run, and why: it may be done already.
func (p *Plain) leftOut() {
	var reasons []string
	left := map[string][]string{}
	for _, x := range p.summary.LeftOut() {
		if left[x.Reason] == nil {
			reasons = append(reasons, x.Reason)
		}
		left[x.Reason] = append(left[x.Reason], x.Name)
	}
	for _, reason := range reasons {
		p.line(fmt.Sprintf("left out: %s (%s)", names(left[reason]), reason), 2, p.paint.dim)
	}
}

func (p *Plain) warning(project, message string) {
	if p.o.GitHub {
		p.annotate("warning", project, message)
		return
	}
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

// stopping says that nothing new starts, what is awaited, and how to go further.
func (p *Plain) stopping(e event.Event) {
	const nothingNew = "; nothing new starts"
	who := names(e.Waiting)
	text := e.Reason + nothingNew
	switch {
	case e.Reason == event.ReasonCancelled && who != "":
		text = "cancelling " + who + nothingNew + " (interrupt again to kill)"
	case e.Reason == event.ReasonInterrupted && who != "":
		text += "; waiting for " + who + " (interrupt again to cancel)"
	case e.Reason != event.ReasonCancelled && e.Reason != event.ReasonInterrupted:
		text = "stopping: " + text
		if who != "" {
			text += "; waiting for " + who
		}
	}
	p.line(text, 2, p.paint.yellow)
}

func (p *Plain) next() {
	if p.o.Next == nil {
		return
	}
	if commands := p.o.Next(&p.summary); len(commands) > 0 {
		p.print("\nNext:\n" + indented(strings.Join(commands, "\n"), 2) + "\n") // not wrapped: to be copied
	}
}

// indented puts spaces before every line of a text.
func indented(text string, indent int) string {
	pad := strings.Repeat(" ", indent)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad)
}

// names joins names as a sentence does.
func names(list []string) string {
	const most = 10
	if len(list) > most {
		return typeset.Few(list, most-1)
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
