package operate

import (
	"fmt"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/refusal"
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

// reportRefused emits why nothing runs, after what the preview of an up has found, and writes the preview's report: no
// run does it then.
func (j *job) reportRefused(err error) {
	shown, by := j.before, refusal.Of(err)
	switch {
	case j.Rollout != nil, by == "" && shown.Run == "":
		return
	case by == refusal.Question && shown.Run != "": // a user has said no
		return
	}
	if shown.Outcome() == event.Succeeded || shown.Run == "" { // what a preview itself was refused for is in it
		f := event.Finding{Rule: string(by), Level: event.LevelDeny, Message: event.MaskURLs(err.Error())}
		shown.Result, shown.Warnings = event.Failed, append(shown.Warnings, event.Alert{Message: f.Message, Finding: &f})
	}
	if j.view.JSON {
		o := event.EmitterOptions{Run: shown.Run, Now: j.d.Now, Sinks: []event.Sink{ui.NewJSON(j.view.Stdout)}}
		if j.s != nil {
			o.Masker = j.s.Masker
		}
		emitter := event.NewEmitter(o)
		for _, e := range relay.FindingEvents(shown) {
			emitter.Emit(e)
		}
		emitter.Close()
	}
	if shown.Run == "" {
		return
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
