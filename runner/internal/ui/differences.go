package ui

import (
	"strings"

	"mara/providers/operation"
	"mara/runner/internal/event"
	"mara/runner/internal/typeset"
)

// differences lists what a look for drift has found, or what a preview would change.
func (e ending) differences() string {
	if e.summary.Operation == operation.Preview && !e.diff {
		return ""
	}
	var b strings.Builder
	for _, s := range e.summary.Steps {
		if len(s.Differences) == 0 {
			continue
		}
		b.WriteString("\n" + e.paint.bold(typeset.Wrap(s.Title+" ("+s.Name+")", e.width, 2)) + "\n")
		for _, d := range s.Differences {
			b.WriteString(typeset.Wrap("  "+difference(e.summary.Operation, d), e.width, 6) + "\n")
		}
	}
	return b.String()
}

// difference says what has become of a resource, or would become of it.
func difference(op operation.Operation, d event.Difference) string {
	what := map[event.Action]string{event.Create: "new", event.Update: "changed", event.Replace: "replaced", event.Delete: "gone"}[d.Action]
	if op == operation.Preview {
		what = "to " + string(d.Action)
	}
	text := what + ": " + d.Resource.String()
	if len(d.Properties) > 0 {
		text += ", in " + strings.Join(d.Properties, ", ")
	}
	return text
}
