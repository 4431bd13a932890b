package journal

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config/files"
	"mara/config/lists"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/failure"
)

// Events reads the run's events, as far as they were written.
func (r Run) Events() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		f, err := r.open()
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer f.Close()
		for e, err := range event.Decode(f) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// open opens the file of events.
func (r Run) open() (*os.File, error) {
	f, err := openRegular(r.Dir, eventsFile)
	if err != nil {
		return nil, fmt.Errorf("reading run %s: %w", r.ID, err)
	}
	return f, nil
}

// Logs lists the projects that have a log, sorted by name.
func (r Run) Logs() ([]string, error) {
	logs, err := files.Glob(filepath.Join(r.Dir, logsDir), "*.log")
	if err != nil {
		return nil, err
	}
	projects := lists.Map(logs, func(file string) string { return strings.TrimSuffix(filepath.Base(file), ".log") })
	slices.Sort(projects)
	return projects, nil
}

// LogFile returns the path of the log of a project that has one.
func (r Run) LogFile(project string) string {
	return filepath.Join(r.Dir, logsDir, logName(project))
}

// Find returns the run of an id or of the beginning of one; an empty text means
// the newest.
func Find(dir, id string) (Run, error) {
	runs, err := List(dir)
	if err != nil {
		return Run{}, err
	}
	found := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return !strings.HasPrefix(r.ID, id) })
	switch {
	case len(runs) == 0:
		return Run{}, noRun("there are no runs yet")
	case len(found) == 0:
		return Run{}, noRun("there is no run %q", id)
	case len(found) > 1 && id != "":
		return Run{}, noRun("%d runs begin with %q", len(found), id)
	}
	return found[0], nil
}

func noRun(format string, args ...any) error {
	return &failure.Usage{Text: fmt.Sprintf(format, args...), Next: "`runner history` lists the runs"}
}

// Follow reads the run's events as Events does, and then new events while the run
// continues: it looks for new ones whenever wait returns true, and ends when wait
// returns false or the run has finished.
func (r Run) Follow(wait func() bool) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		f, err := r.open()
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer f.Close()
		var pending []byte // what has been read, from the first line that is not complete
		for more := true; more; {
			more = wait() // asked before reading: what was written until a refusal counts
			text, err := io.ReadAll(f)
			if err != nil {
				yield(event.Event{}, fmt.Errorf("reading run %s: %w", r.ID, err))
				return
			}
			pending = append(pending, text...)
			complete := bytes.LastIndexByte(pending, '\n') + 1
			for e, err := range event.Decode(bytes.NewReader(pending[:complete])) {
				if !yield(e, err) || err != nil || e.Type == event.RunFinished {
					return
				}
			}
			pending = pending[complete:]
		}
	}
}

// Lines renders events as the entries of their projects' logs.
type Lines struct{ summary event.Summary }

// Line returns the entry that an event makes in the log of its project; empty if
// it makes none.
func (l *Lines) Line(e event.Event) string {
	l.summary.Apply(e)
	return logged(&l.summary, e)
}
