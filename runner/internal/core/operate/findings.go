package operate

import (
	"fmt"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/relay"
	"mara/runner/internal/core/report"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/typeset"
)

// emitFinding emits what a guard has found, with the place in the repository that
// it belongs to. The text is what screens show; "" for the finding's message.
func (g judge) emitFinding(emit func(event.Event), f event.Finding, text string) {
	if f.File == "" {
		place := Place(g.Request.Request, g.s.Settings.Stack.Text, f.Project, f.Resource.Name)
		f.File, f.Line = place.File, place.Line
	}
	emit(event.NewFinding(f, text))
}

// reportRefused emits what the preview of an up has found, and writes its report,
// if an error refuses the up, because no run writes it then.
func (j *job) reportRefused(err error) {
	shown, denied := j.before, forbidden(err)
	if err == nil || j.Rollout != nil || shown.Run == "" || denied == nil && shown.Outcome() == event.Succeeded {
		return
	}
	if shown.Outcome() == event.Succeeded { // the protection has refused it, after the preview
		f := event.Finding{Rule: event.RuleProtection, Level: event.LevelDeny, Message: denied.Error()}
		shown.Result, shown.Warnings = event.Failed, append(shown.Warnings, event.Alert{Message: f.Message, Finding: &f})
	}
	if j.view.JSON {
		emitter := event.NewEmitter(event.EmitterOptions{
			Run: shown.Run, Now: j.d.Now, Sinks: []event.Sink{ui.NewJSON(j.view.Stdout)},
		})
		for _, e := range relay.FindingEvents(shown) {
			emitter.Emit(e)
		}
		emitter.Close()
	}
	if j.view.Report != "" {
		err := relay.WriteReport(j.view.Report, &shown, report.Details{})
		relay.Warn(j.d, "the report cannot be written: ", err)
		if err == nil && !j.view.JSON {
			fmt.Fprintf(j.view.Stdout, "\nReport: %s\n", ui.Decide(j.view.Facts).Link(j.view.Report))
		}
	}
	if file := ui.Decide(j.view.Facts).StepSummary; file != "" && !j.view.JSON {
		relay.Warn(j.d, "the step summary cannot be written: ", report.AppendStepSummary(file, &shown))
	}
}

// printConclusions prints after a preview what the guards say about it.
func (j *job) printConclusions() {
	for _, watch := range j.watches {
		if text := watch.Conclusion(); text != "" && !j.view.JSON {
			fmt.Fprintln(j.view.Stdout, "\n"+typeset.Wrap(text, j.view.Width(), 2))
		}
	}
}
