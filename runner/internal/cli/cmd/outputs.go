package cmd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/runner/internal/journal"
	"mara/runner/internal/report"
	"mara/runner/internal/stacks"
)

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
