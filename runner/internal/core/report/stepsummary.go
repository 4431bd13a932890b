package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"mara/runner/internal/core/event"
)

// mostStepSummary is what GitHub takes of one step, with some reserve for what
// others have written there.
const mostStepSummary = 900 << 10

// AppendStepSummary appends the Markdown report to the file that GitHub Actions
// shows as the summary of a step. GitHub shows nothing of a file that is too
// big, so a long report omits what failed.
func AppendStepSummary(path string, s *event.Summary) error {
	var text bytes.Buffer
	if err := writeMarkdown(&text, s); err != nil {
		return err
	}
	if text.Len() > mostStepSummary {
		text.Reset()
		if err := writeMarkdown(&text, withoutFailures(s)); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("writing the step summary: %w", err)
	}
	if _, err := io.Copy(f, &text); err != nil {
		return fmt.Errorf("writing the step summary: %w", errors.Join(err, f.Close()))
	}
	return f.Close()
}

// withoutFailures returns the summary with a short word instead of every error.
func withoutFailures(s *event.Summary) *event.Summary {
	short := *s
	short.Steps = make([]event.Step, len(s.Steps))
	for i, step := range s.Steps {
		step.Diagnostics, step.Hooks = nil, nil
		if step.Error != "" {
			step.Error = "too long for this summary; see the log"
		}
		short.Steps[i] = step
	}
	return &short
}
