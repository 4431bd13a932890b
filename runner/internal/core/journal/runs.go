package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// Run is a run on disk.
type Run struct {
	ID  string
	Dir string
}

// Began returns when the run began, as its ID says, to the second.
func (r Run) Began() time.Time {
	began, _ := time.Parse(idTime, r.ID[:min(len(idTime), len(r.ID))]) // zero for an id without a time
	return began
}

// IsOver says that the run came to its end. One that did not may go on, or was
// cut off.
func (r Run) IsOver() bool {
	_, err := os.Stat(filepath.Join(r.Dir, summaryFile))
	return err == nil
}

// List returns the runs below dir, the newest first. A directory that does not
// exist holds none.
func List(dir string) ([]Run, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failure.RunnerDir(fmt.Errorf("listing runs: %w", err))
	}
	var runs []Run
	for _, e := range entries {
		if e.IsDir() && isID(e.Name()) {
			runs = append(runs, Run{ID: e.Name(), Dir: filepath.Join(dir, e.Name())})
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return strings.Compare(b.ID, a.ID) })
	return runs, nil
}

// Summaries reads the runs below dir with their summaries, the newest first. It
// skips what cannot be read.
func Summaries(dir string) (iter.Seq2[Run, *event.Summary], error) {
	runs, err := List(dir)
	return func(yield func(Run, *event.Summary) bool) {
		for _, run := range runs {
			if summary, err := run.Summary(); err == nil && !yield(run, summary) {
				return
			}
		}
	}, err
}

// Summary returns what the run adds up to. Without a good summary.json, as
// after a crash or while the run goes on, it is made from the events.
func (r Run) Summary() (*event.Summary, error) {
	written := &event.Summary{}
	if err := readJSON(r.Dir, summaryFile, written); err == nil && written.Format == event.SummaryFormat {
		return written, nil
	}
	f, err := r.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := event.Summarise(event.Decode(f))
	if err != nil && !errors.Is(err, event.ErrTruncated) {
		return nil, fmt.Errorf("reading run %s: %s: %w", r.ID, eventsFile, err)
	}
	return s, nil
}

// writeJSON puts a file in place as a whole or not at all.
func writeJSON(path string, value any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return err
	}
	return atomicfile.Write(path, text.Bytes(), 0o600)
}

// WasCutOff reports whether the last run in a directory that may have changed the
// environment never came to its end.
func WasCutOff(dir string, environment Environment) bool {
	runs, _ := Summaries(dir) // what cannot be listed says nothing
	for _, summary := range runs {
		if environment.Has(summary) && summary.Operation.Writes() {
			return summary.Result == ""
		}
	}
	return false
}
