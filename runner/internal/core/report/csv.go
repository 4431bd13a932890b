package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"time"

	"mara/runner/internal/core/event"
)

// writeCSV writes one line for every project of the run, for spreadsheets and
// databases.
func writeCSV(w io.Writer, s *event.Summary) error {
	rows := [][]string{{"run", "operation", "provider", "stack", "simulated", "project", "title", "result", "reason",
		"causes",
		"create", "update", "replace", "delete", "same", "started", "finished", "duration_ms", "error", "outputs"}}
	for _, step := range s.Steps {
		c := step.Changes
		rows = append(rows, []string{s.Run, string(s.Operation), s.Provider, s.Stack, fmt.Sprint(s.Simulated),
			step.Name, step.Title, string(result(step)), Tame(step.Reason), strings.Join(step.Causes, " "),
			fmt.Sprint(c.Create), fmt.Sprint(c.Update), fmt.Sprint(c.Replace), fmt.Sprint(c.Delete), fmt.Sprint(c.Same),
			moment(step.Started), moment(step.Finished), fmt.Sprint(step.DurationMS), Tame(step.Error), fmt.Sprint(c.Outputs)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// moment renders a time; nothing for one that is not known.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Tame keeps a spreadsheet from taking a text that comes from elsewhere for a
// formula.
func Tame(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
