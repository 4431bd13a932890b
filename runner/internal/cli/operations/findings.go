package operations

import (
	"errors"
	"fmt"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/guard/policy"
	"mara/runner/internal/output/report"
	"mara/runner/internal/output/ui"
	"mara/runner/internal/run/event"
)

// emitFinding emits what a guard has found, with the place in the repository that
// it belongs to. The text is what screens show; "" for the finding's message.
func (o operateOptions) emitFinding(s *session.Session, emit func(event.Event), f event.Finding, text string) {
	if f.File == "" {
		place := o.Place(s.Settings.Stack.Text, f.Project, f.Resource.Name)
		f.File, f.Line = place.File, place.Line
	}
	emit(event.NewFinding(f, text))
}

// emitBroken emits a rule that could not be applied, which forbids an up.
func (o operateOptions) emitBroken(s *session.Session, emit func(event.Event), err error) {
	var broken *policy.RuleError
	if errors.As(err, &broken) {
		f := event.Finding{
			Rule: broken.Rule, Level: event.LevelDeny, Message: broken.Error(), File: o.InRepository(broken.File), Line: 1,
		}
		o.emitFinding(s, emit, f, "")
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

// findingEvents returns the events of what guards have found in a preview.
func findingEvents(shown event.Summary) []event.Event {
	var events []event.Event
	for _, warning := range shown.Warnings {
		if warning.Finding != nil {
			events = append(events, event.NewFinding(*warning.Finding, warning.Message))
		}
	}
	return events
}

// reportRefused emits what the preview of an up has found, and writes its report,
// if the up is refused, because no run writes it then.
func reportRefused(d cmd.Deps, o operateOptions, shown event.Summary, err error) {
	denied := forbidden(err)
	if o.part != nil || shown.Run == "" || denied == nil && shown.Outcome() == event.Succeeded {
		return
	}
	if shown.Outcome() == event.Succeeded { // the protection has refused it, after the preview
		f := event.Finding{Rule: event.RuleProtection, Level: event.LevelDeny, Message: denied.Error()}
		shown.Result, shown.Warnings = event.Failed, append(shown.Warnings, event.Alert{Message: f.Message, Finding: &f})
	}
	if o.Output == "json" {
		emitter := event.NewEmitter(event.EmitterOptions{
			Run: shown.Run, Now: d.Now, Sinks: []event.Sink{ui.NewJSON(d.Stdout)},
		})
		for _, e := range findingEvents(shown) {
			emitter.Emit(e)
		}
		emitter.Close()
	}
	if o.Show.Report != "" {
		err := writeReport(o.Show.Report, &shown, report.Details{})
		warn(d, "the report cannot be written: ", err)
		if err == nil && o.Output != "json" {
			fmt.Fprintf(d.Stdout, "\nReport: %s\n", o.Show.Report)
		}
	}
	if file := ui.Decide(o.Facts(d)).StepSummary; file != "" && o.Output != "json" {
		warn(d, "the step summary cannot be written: ", report.AppendStepSummary(file, &shown))
	}
}
