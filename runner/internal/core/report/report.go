// Package report writes the summary of a run in forms for people, programs and
// CI systems: JSON, CSV, Markdown, JUnit XML and a self-contained HTML page. All
// of them are made from event.Summary, the page also from details that a
// Collector gathers; both come from events, so a report can be written at the
// end of a run or long after it.
package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mara/projects/model"
	"mara/runner/internal/core/event"
)

// Format is a form of a report.
type Format string

// The forms of a report.
const (
	CSV      Format = "csv"
	JSON     Format = "json"
	Markdown Format = "md"
	JUnit    Format = "junit"
	SARIF    Format = "sarif"
	HTML     Format = "html"
)

// Formats lists the names of the forms.
func Formats() []string {
	return []string{string(HTML), string(Markdown), string(JSON), string(JUnit), string(SARIF), string(CSV)}
}

// ErrFormat is the error for a form that does not exist.
var ErrFormat = errors.New("unknown report format")

// FormatOf returns the form that the name of a file asks for.
func FormatOf(path string) (Format, error) {
	forms := map[string]Format{".html": HTML, ".htm": HTML, ".md": Markdown, ".json": JSON, ".xml": JUnit, ".sarif": SARIF,
		".csv": CSV}
	if form, ok := forms[filepath.Ext(path)]; ok {
		return form, nil
	}
	return "", fmt.Errorf("%w for %s: its name must end in .html, .md, .json, .xml (for JUnit), .sarif or .csv", ErrFormat,
		path)
}

// Write writes the summary in a form, with details where the form has a
// place for them.
func Write(w io.Writer, f Format, s *event.Summary, d Details) error {
	switch f {
	case CSV:
		return writeCSV(w, s)
	case JSON:
		return encodeJSON(w, s)
	case Markdown:
		return writeMarkdown(w, s)
	case JUnit:
		return writeJUnit(w, s)
	case SARIF:
		return writeSARIF(w, s)
	case HTML:
		return writeHTML(w, s, d)
	default:
		return fmt.Errorf("%w %q: choose one of %s", ErrFormat, f, strings.Join(Formats(), ", "))
	}
}

// encodeJSON writes a value for programs and people.
func encodeJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// title names the run in one line.
func title(s *event.Summary) string {
	text := fmt.Sprintf("%s %s %s", s.Operation, model.Place(s.Provider, s.Stack), s.Outcome())
	if s.Fleet {
		text = fmt.Sprintf("%s of a fleet %s", s.Operation, s.Outcome())
	}
	if s.Simulated {
		text += " " + simulated
	}
	return text
}

// simulated marks every report of a simulation.
const simulated = "[SIMULATED]"

// changes renders the changes of a step: nothing for one that never ran.
func changes(s event.Step) string {
	if !s.Ran() && !s.Changes.Any() {
		return ""
	}
	return s.Changes.String()
}

// took renders the time of a step: nothing for one that never ran.
func took(s event.Step) string {
	if !s.Ran() {
		return ""
	}
	return event.FormatDuration(s.Duration())
}

// result returns the result of a step; one whose end is not recorded ended with
// its run, unless it had not begun.
func result(s event.Step) event.Result {
	if s.Result == "" && s.Started.IsZero() {
		return event.Skipped
	}
	return cmp.Or(s.Result, event.Interrupted)
}
