package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/core/event"
)

// logs are the log files of a run, one for each project that has started. A
// file is open while its project runs.
type logs struct {
	dir  string
	open map[string]*os.File
}

func newLogs(dir string) logs { return logs{dir: dir, open: map[string]*os.File{}} }

// write adds an event to the log of its project, if it has one.
func (l *logs) write(s *event.Summary, e event.Event) error {
	text := logged(s, e)
	if text == "" {
		return nil
	}
	f, err := l.file(e.Project)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if e.Type == event.StepFinished {
		delete(l.open, e.Project)
		err = errors.Join(err, f.Close())
	}
	return err
}

// logged returns the lines that an event adds to the log of its project, the further ones
// indented, with a line end; empty if it adds nothing. The log of a project begins when it starts.
func logged(s *event.Summary, e event.Event) string {
	step, _ := s.Step(e.Project)
	if (step == nil || step.Started.IsZero()) && e.Project != event.RunProject {
		return ""
	}
	text := describe(s, e)
	if text == "" {
		return ""
	}
	return e.Time.UTC().Format("15:04:05.000") + " " + strings.ReplaceAll(text, "\n", "\n             ") + "\n"
}

// file returns the open log of a project.
func (l *logs) file(project string) (*os.File, error) {
	if f, ok := l.open[project]; ok {
		return f, nil
	}
	f, err := os.OpenFile(filepath.Join(l.dir, logName(project)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		l.open[project] = f
	}
	return f, err
}

func (l *logs) close() error {
	var errs []error
	for _, f := range l.open {
		errs = append(errs, f.Close())
	}
	clear(l.open)
	return errors.Join(errs...)
}

// logName returns the file name for a project. Pulumi allows only letters,
// digits, dots, hyphens and underscores; anything else must not lead elsewhere.
func logName(project string) string {
	return strings.NewReplacer("/", "_", `\`, "_", ":", "_").Replace(project) + ".log"
}

// describe says in words what an event tells about a project.
func describe(s *event.Summary, e event.Event) string {
	switch e.Type {
	case event.StepStarted:
		return heading(s, e)
	case event.StepProgress:
		if e.Action == event.Same {
			return "unchanged " + e.Resource.String()
		}
		return withMessage(fmt.Sprintf("%s %s %s", e.Action, e.Status, e.Resource), e.Message)
	case event.StepOutputs:
		return "outputs\n" + strings.Join(lists.Map(e.Outputs, event.OutputChange.String), "\n")
	case event.StepLog:
		return withMessage(strings.TrimSpace(fmt.Sprintf("%s %s", e.Severity, e.Resource)), e.Message)
	case event.RunWarning:
		return withMessage("warning", e.Message)
	case event.StepRetrying:
		return fmt.Sprintf("failed: %s; attempt %d in %s", e.Error, e.Attempt, event.FormatDuration(e.Wait()))
	case event.HookStarted:
		return "hook " + e.Hook + " started"
	case event.HookFinished:
		return withMessage(fmt.Sprintf("hook %s %s in %s", e.Hook, e.Result, event.FormatDuration(e.Duration())), e.Error)
	case event.StepFinished:
		return ending(e)
	default:
		return ""
	}
}

// heading names operation, environment and run.
func heading(s *event.Summary, e event.Event) string {
	text := fmt.Sprintf("%s %s/%s %s, run %s", s.Operation, s.Provider, s.Stack, e.Project, s.Run)
	if s.Simulated {
		text += " [SIMULATED]"
	}
	return text
}

// ending says how the step ended.
func ending(e event.Event) string {
	text := string(e.Result)
	if e.Reason != "" {
		text += ", " + e.Reason
	}
	text += " after " + event.FormatDuration(e.Duration())
	if e.Attempt > 1 {
		text += fmt.Sprintf(" and %d attempts", e.Attempt)
	}
	if e.Changes != nil {
		text += ", " + e.Changes.String()
	}
	return withMessage(text, e.Error)
}

func withMessage(text, message string) string {
	if message == "" {
		return text
	}
	return text + ": " + message
}
