package ui

import (
	"strings"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

// differences lists what a look for drift has found, what a preview would change if
// that is asked for, and in any case the outputs that change.
func (e ending) differences() string {
	var b strings.Builder
	for _, s := range e.summary.Steps {
		var lines []string
		if e.summary.Operation != operation.Preview || e.diff {
			for _, d := range s.Differences {
				lines = append(lines, "  "+difference(e.summary.Operation, d))
			}
		}
		lines = append(lines, e.outputLines(s)...)
		if len(lines) == 0 {
			continue
		}
		b.WriteString("\n" + e.paint.bold(typeset.Wrap(s.Title+" ("+s.Name+")", e.width, 2)) + "\n")
		for _, line := range lines {
			b.WriteString(typeset.Wrap(line, e.width, 6) + "\n")
		}
	}
	return b.String()
}

// outputLines lists the outputs of a project that change. All those of a new stack
// are new: they are named if a preview lists everything, and else only counted.
func (e ending) outputLines(s event.Step) []string {
	switch {
	case len(s.Outputs) == 0 || s.Changes.IsNew() && !e.diff:
		return nil
	case s.Changes.IsNew():
		names := lists.Map(s.Outputs, func(c event.OutputChange) string { return c.Name })
		return []string{"  new outputs: " + strings.Join(names, ", ")}
	}
	lines := lists.Map(s.Outputs, func(c event.OutputChange) string { return "    " + c.String() })
	return append([]string{"  Outputs:"}, lines...)
}

// difference says what has become of a resource, or would become of it.
func difference(op operation.Operation, d event.Difference) string {
	what := map[event.Action]string{event.Create: "new", event.Update: "changed", event.Replace: "replaced",
		event.Delete: "gone"}[d.Action]
	if op == operation.Preview {
		what = "to " + string(d.Action)
	}
	text := what + ": " + d.Resource.String()
	if len(d.Properties) > 0 {
		text += ", in " + strings.Join(d.Properties, ", ")
	}
	return text
}
