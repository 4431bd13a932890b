package operations

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/output/report"
	"mara/runner/internal/output/trace"
	"mara/runner/internal/output/ui"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
)

// run takes the events of an operation to the screen, the journal and the reports.
type run struct {
	emitter   *event.Emitter
	journal   *journal.Journal
	screen    cmd.Screen
	collector *report.Collector
	tracer    *trace.Tracer // nil unless traces are asked for
	summary   event.Summary
	opening   []string        // warnings to begin with
	found     []event.Event   // what guards have found in the preview before
	shown     *unseen         // the screen, without what the preview has shown
	outputs   journal.Outputs // as far as the run has reported them
	reports   []string
	markdown  string // file of GitHub's step summary
}

func startRun(ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work) (*run, error) {
	warnings := s.Warnings
	if len(s.Generated) > 0 && o.Operation.RunsPrograms() && o.part == nil {
		warnings = append(warnings, "SIMULATED: generated throw-away values for "+strings.Join(s.Generated, ", "))
	}
	known := knownTo(s, o, w)
	known.Next = nextSteps(o, s.Settings.Stack.Text)
	r, err := beginRun(
		ctx, d, o, journal.Options{Dir: s.Directory.Runs(), ID: s.Held.RunID, Meta: meta(s, d, o, w)}, known, s.Masker,
	)
	if err == nil {
		r.opening, r.found = append(warnings, r.opening...), findingEvents(w.preview)
		if o.Output != "json" { // as JSON the preview was not shown
			r.shown.skip = len(r.found)
		}
		r.found = append(r.found, o.heldPlan()...)
		s.OnWarning(func(text string) { r.emit(event.Event{Type: event.RunWarning, Message: text}) })
	}
	return r, err
}

// beginRun opens the journal and the screen of a run.
func beginRun(
	ctx context.Context, d cmd.Deps, o operateOptions, keep journal.Options, known ui.Options, masker *event.Masker,
) (*run, error) {
	if err := o.Show.check(); err != nil {
		return nil, err
	}
	r := &run{collector: report.NewCollector()}
	keep.Warn = func(e event.Event) { r.emit(e) }
	var err error
	if r.journal, err = journal.Create(keep); err != nil {
		return nil, failure.RunnerDir(err)
	}
	show, look := newScreen(d, o, known)
	r.screen, r.markdown = show, look.StepSummary
	r.reports = []string{filepath.Join(r.journal.Dir(), "report.html")}
	if o.Show.Report != "" {
		r.reports = append(r.reports, o.Show.Report)
	}
	r.shown = &unseen{Sink: show}
	sinks := append([]event.Sink{r.shown, r.journal, r.collector, &r.summary}, r.trace(ctx, d, o)...)
	r.emitter = event.NewEmitter(event.EmitterOptions{Run: r.journal.ID(), Masker: masker, Now: d.Now, Sinks: sinks})
	return r, nil
}

// trace starts to trace the run, if asked to. A failure is only a warning.
func (r *run) trace(ctx context.Context, d cmd.Deps, o operateOptions) []event.Sink {
	tracer, err := trace.Start(ctx, trace.Options{
		Getenv: func(name string) string { return o.Sources.Lookup(name).Text }, Version: d.Version,
	})
	if err != nil {
		r.opening = append(r.opening, fmt.Sprintf("no traces are sent: %v", err))
	}
	if err != nil || tracer == nil {
		return nil
	}
	r.tracer = tracer
	return []event.Sink{tracer}
}

// endTrace sends the rest of the trace, and waits a few seconds at most.
func (r *run) endTrace(d cmd.Deps) {
	const patience = 5 * time.Second
	if r.tracer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	warn(d, "", r.tracer.Close(ctx))
}

// emit passes an event on. The opening warnings follow the first one.
func (r *run) emit(e event.Event) {
	r.emitter.Emit(e)
	if e.Type != event.RunStarted {
		return
	}
	for _, text := range r.opening {
		r.emitter.Emit(event.Event{Type: event.RunWarning, Message: text})
	}
	for _, found := range r.found {
		r.emitter.Emit(found)
	}
}

// finish ends the screen and completes the run's directory. Failures are warnings.
func (r *run) finish(d cmd.Deps, o operateOptions) {
	r.emitter.Close()
	_ = r.screen.Close() // an error means that the terminal is gone
	warn(d, "", r.journal.KeepOutputs(r.outputs))
	details := r.collector.Details()
	cmd.AddOutputs(details, r.outputs)
	warn(d, "the journal of this run is incomplete: ", r.journal.Close())
	r.report(d, o, details)
	if r.markdown != "" {
		warn(d, "the step summary cannot be written: ", report.AppendStepSummary(r.markdown, &r.summary))
	}
	r.endTrace(d)
	if o.part == nil { // the page of a rollout still links to the runs of its environments
		environments, _ := config.Stacks(o.Root) // what cannot be read counts as one
		_ = journal.Prune(filepath.Dir(r.journal.Dir()), journal.Usual(len(environments)), d.Now())
	}
}

// warn prints an error after a run as a warning.
func warn(d cmd.Deps, what string, err error) {
	if err != nil {
		fmt.Fprintf(d.Stderr, "warning: %s%v\n", what, err)
	}
}

func (r *run) report(d cmd.Deps, o operateOptions, details report.Details) {
	lines := ""
	for _, path := range r.reports {
		err := writeReport(path, &r.summary, details)
		warn(d, "the report cannot be written: ", err)
		if err == nil {
			lines += "Report: " + path + "\n"
		}
	}
	if lines != "" && o.Output != "json" {
		fmt.Fprint(d.Stdout, "\n"+lines)
	}
}

// meta describes the run for its directory.
func meta(s *session.Session, d cmd.Deps, o operateOptions, w work) journal.Meta {
	rollout := ""
	if o.part != nil {
		rollout = o.part.rollout
	}
	return journal.Meta{
		Rollout: rollout, Force: o.Force, Operation: o.Operation, Environment: s.Environment(), Simulated: o.Simulation.On,
		Selection: o.Selection.words(), Resumes: w.resumes, Fingerprint: configurationOf(s),
		User: s.Held.Owner.User, Host: s.Held.Owner.Host, PID: s.Held.Owner.PID, Runner: d.Version,
	}
}
