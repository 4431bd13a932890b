// Package relay takes the events of a run to the screen, the journal, the reports and
// the trace.
package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mara/config"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/report"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/trace"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// View says how a run is shown.
type View struct {
	Stdout io.Writer
	Size   func() (width, height int) // of the terminal at stdout; nil if it is none
	JSON   bool                       // the events, as JSON
	Facts  ui.Facts                   // decide how it looks
	List   ui.List                    // of a preview: how much of what would change
	Why    bool                       // why each project runs
	Report string                     // file for a second report, next to the one in the run's directory
	Screen ui.Screen                  // that shows the run as a part of another; nil for none
}

// Width returns the width of the terminal, 0 if it is none.
func (v View) Width() int { return ui.Width(v.Size) }

// NewScreen returns the screen that a view asks for. known has what the screen expects of the run.
func (v View) NewScreen(known ui.Options) (ui.Screen, ui.Look) {
	if v.Screen != nil {
		return v.Screen, ui.Look{}
	}
	if v.JSON {
		return ui.NewJSON(v.Stdout), ui.Look{}
	}
	look := ui.Decide(v.Facts)
	known.Size, known.Width, known.List, known.Why = v.Size, v.Width(), v.List, v.Why
	known.Colour, known.ASCII, known.Order, known.GitHub = look.Colour, look.ASCII, look.Order, look.GitHub
	if look.Mode == ui.LiveMode {
		known.Ticks = time.Tick(ui.TickRate)
		return ui.NewLive(v.Stdout, known), look
	}
	known.Ticks = time.Tick(time.Second)
	return ui.NewPlain(v.Stdout, known), look
}

// Differences renders what a preview would change, or what a look for drift has found.
func (v View) Differences(summary *event.Summary) string {
	return ui.Differences(summary, ui.Options{List: v.List, Width: v.Width()})
}

// Folded renders what Differences has rendered for the environments of a fleet.
func (v View) Folded(texts map[string]string) string {
	return ui.Folded(texts, ui.Options{Width: v.Width(), Colour: ui.Decide(v.Facts).Colour})
}

// Details renders all that a preview would change, with all values.
func (v View) Details(preview *event.Summary) string {
	return ui.Differences(preview, ui.Options{List: ui.Full, Width: v.Width(), Colour: ui.Decide(v.Facts).Colour})
}

// Relay takes the events of one run to where they are wanted.
type Relay struct {
	Screen  ui.Screen
	Summary event.Summary
	Outputs journal.Outputs // as far as the run has reported them

	d         session.Deps
	view      View
	root      string
	emitter   *event.Emitter
	journal   *journal.Journal
	collector *report.Collector
	tracer    *trace.Tracer // nil unless traces are asked for
	origin    event.Origin
	opening   []event.Event // that follow the first event
	shown     *unseen       // the screen, without what the preview has shown
	markdown  string        // file of GitHub's step summary
}

// Begin opens the journal and the screen of a run in a root.
func Begin(ctx context.Context, d session.Deps, v View, root string, keep journal.Options, known ui.Options,
	masker *event.Masker) (*Relay, error) {
	if v.Report != "" {
		if _, err := report.FormatOf(v.Report); err != nil {
			return nil, failure.Usagef("", "--report: %v", err)
		}
	}
	r := &Relay{d: d, view: v, root: root, origin: keep.Meta.Origin(), collector: report.NewCollector()}
	keep.Warn = r.Emit
	var err error
	if r.journal, err = journal.Create(keep); err != nil {
		return nil, failure.RunnerDir(err)
	}
	show, look := v.NewScreen(known)
	r.Screen, r.markdown, r.shown = show, look.StepSummary, &unseen{Sink: show}
	sinks := []event.Sink{r.shown, r.journal, r.collector, &r.Summary}
	r.tracer, err = trace.Start(ctx, trace.Options{Getenv: v.Facts.Getenv, Version: d.Version})
	switch {
	case err != nil:
		r.Open(fmt.Sprintf("no traces are sent: %v", err))
	case r.tracer != nil:
		sinks = append(sinks, r.tracer)
	}
	r.emitter = event.NewEmitter(event.EmitterOptions{Run: r.journal.ID(), Masker: masker, Now: d.Now, Sinks: sinks})
	return r, nil
}

// ID returns the ID of the run.
func (r *Relay) ID() string { return r.journal.ID() }

// Open adds warnings to what follows the first event.
func (r *Relay) Open(warnings ...string) {
	for _, text := range warnings {
		r.opening = append(r.opening, event.Event{Type: event.RunWarning, Message: text})
	}
}

// Found adds findings of the preview before the run to what follows the first event. The screen does not show them
// again, unless it is JSON: as JSON, the preview was not shown.
func (r *Relay) Found(findings []event.Event) {
	r.opening = append(r.opening, findings...)
	if !r.view.JSON {
		r.shown.skip = len(findings)
	}
}

// Follow adds events to what follows the first one.
func (r *Relay) Follow(events ...event.Event) { r.opening = append(r.opening, events...) }

// Emit passes an event on.
func (r *Relay) Emit(e event.Event) {
	if e.Type == event.RunStarted {
		e = r.origin.Of(e)
	}
	r.emitter.Emit(e)
	if e.Type == event.RunStarted {
		for _, follows := range r.opening {
			r.emitter.Emit(follows)
		}
	}
}

// Finish ends the screen and completes the run's directory. Failures are warnings.
func (r *Relay) Finish() {
	r.emitter.Close()
	_ = r.Screen.Close() // an error means that the terminal is gone
	r.Warn("", r.journal.KeepOutputs(r.Outputs))
	details := r.collector.Details()
	AddOutputs(details, r.Outputs)
	details.Before = journal.TimesBefore(filepath.Dir(r.journal.Dir()), &r.Summary)
	r.Warn("the journal of this run is incomplete: ", r.journal.Close())
	r.report(details)
	if r.markdown != "" {
		r.Warn("the step summary cannot be written: ", report.AppendStepSummary(r.markdown, &r.Summary))
	}
	if r.tracer != nil { // send the rest of the trace
		const patience = 5 * time.Second
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		r.Warn("", r.tracer.Close(ctx))
		cancel()
	}
	if r.view.Screen == nil { // the page of a rollout still links to the runs of its environments
		environments, _ := config.Stacks(r.root) // what cannot be read counts as one
		_ = journal.Prune(filepath.Dir(r.journal.Dir()), journal.Usual(len(environments)), r.d.Now())
	}
}

// Warn prints an error after the run as a warning.
func (r *Relay) Warn(what string, err error) { Warn(r.d, what, err) }

// Warn prints an error as a warning, if there is one.
func Warn(d session.Deps, what string, err error) {
	if err != nil {
		fmt.Fprintf(d.Stderr, "warning: %s%v\n", what, err)
	}
}

func (r *Relay) report(details report.Details) {
	lines := ""
	for _, path := range []string{filepath.Join(r.journal.Dir(), "report.html"), r.view.Report} {
		if path == "" {
			continue
		}
		err := WriteReport(path, &r.Summary, details)
		r.Warn("the report cannot be written: ", err)
		if err == nil {
			lines += "Report: " + ui.Decide(r.view.Facts).Link(path) + "\n"
		}
	}
	if lines != "" && !r.view.JSON {
		fmt.Fprint(r.view.Stdout, "\n"+lines)
	}
}

// WriteReport writes a run's report in the format of the file's extension.
func WriteReport(path string, summary *event.Summary, details report.Details) error {
	format, err := report.FormatOf(path)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(report.Write(file, format, summary, details), file.Close())
}

// AddOutputs puts outputs into a report, by name.
func AddOutputs(details report.Details, outputs journal.Outputs) {
	for project, values := range outputs {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			details.Outputs[project] = append(details.Outputs[project], report.Output{
				Name: name, Value: typeset.Value(values[name]), Secret: values[name] == any(stacks.Secret),
			})
		}
	}
}

// unseen is a screen that may have shown the findings of a preview already.
type unseen struct {
	event.Sink
	skip int // the findings of the preview that are still to come
}

// Emit implements event.Sink.
func (s *unseen) Emit(e event.Event) {
	if e.Finding != nil && s.skip > 0 {
		s.skip--
		return
	}
	s.Sink.Emit(e)
}

// FindingEvents returns the events of what guards have found in a preview.
func FindingEvents(shown event.Summary) []event.Event {
	var events []event.Event
	for _, warning := range shown.Warnings {
		if warning.Finding != nil {
			events = append(events, event.NewFinding(*warning.Finding, warning.Message))
		}
	}
	return events
}
