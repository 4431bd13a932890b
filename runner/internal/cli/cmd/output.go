package cmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"mara/runner/internal/output/report"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
)

// WriteJSON prints a document as indented JSON.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}

// Show prints a result as JSON if --output asks for it, or else as text.
func (i Invocation) Show(d Deps, document any, text string) error {
	if i.Output == "json" {
		return WriteJSON(d.Stdout, document)
	}
	_, err := io.WriteString(d.Stdout, text)
	return err
}

// OrDash returns text, or "-" if it is empty.
func OrDash(text string) string { return cmp.Or(text, "-") }

// Ago formats an age the way kubectl does.
func Ago(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds ago", int(max(d, 0).Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

// Screen shows a run while it runs, and its summary at the end.
type Screen interface {
	event.Sink
	Close() error
}

// PlainValue formats a string as it is and anything else as JSON.
func PlainValue(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// AddOutputs puts outputs into a report, by name.
func AddOutputs(details report.Details, outputs journal.Outputs) {
	for project, values := range outputs {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			details.Outputs[project] = append(details.Outputs[project], report.Output{
				Name: name, Value: PlainValue(values[name]), Secret: values[name] == any(stacks.Secret),
			})
		}
	}
}
