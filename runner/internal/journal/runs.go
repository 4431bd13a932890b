package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/runner/internal/event"
)

// Keep is how many runs Prune is usually asked to leave.
const Keep = 50

// Run is a run on disk.
type Run struct {
	ID  string
	Dir string
}

// List returns the runs below dir, the newest first. A folder that does not
// exist holds none.
func List(dir string) ([]Run, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
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

// Summary returns what the run adds up to. Without a good summary.json, as
// after a crash or while the run goes on, it is made from the events.
func (r Run) Summary() (*event.Summary, error) {
	if s, err := readSummary(r.Dir); err == nil {
		return s, nil
	}
	f, err := os.Open(filepath.Join(r.Dir, eventsFile))
	if err != nil {
		return nil, fmt.Errorf("reading run %s: %w", r.ID, err)
	}
	defer f.Close()
	s, err := event.Summarise(event.Decode(f))
	if err != nil && !errors.Is(err, event.ErrTruncated) {
		return nil, fmt.Errorf("reading run %s: %s: %w", r.ID, eventsFile, err)
	}
	return s, nil
}

// readSummary reads summary.json, if this runner understands it.
func readSummary(dir string) (*event.Summary, error) {
	text, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err != nil {
		return nil, err
	}
	s := &event.Summary{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, err
	}
	if s.Format != event.SummaryFormat {
		return nil, fmt.Errorf("summary format %d", s.Format)
	}
	return s, nil
}

// writeSummary puts summary.json in place.
func writeSummary(dir string, s *event.Summary) error {
	if err := writeJSON(filepath.Join(dir, summaryFile), s); err != nil {
		return fmt.Errorf("writing the summary: %w", err)
	}
	return nil
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
	temporary := path + ".tmp"
	err := os.WriteFile(temporary, text.Bytes(), 0o600)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(temporary))
	}
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Prune removes the oldest runs and leaves the newest, as many as keep says.
// Of every environment it also leaves the last run that did not succeed, with
// those that it carried on: that is the one a user comes back to. It returns
// what it has removed.
func Prune(dir string, keep int) ([]Run, error) {
	runs, err := List(dir)
	if err != nil || len(runs) <= keep {
		return nil, err
	}
	wanted := unsuccessful(runs)
	var removed []Run
	var errs []error
	for _, r := range runs[max(keep, 0):] {
		if wanted[r.ID] {
			continue
		}
		if err := os.RemoveAll(r.Dir); err != nil {
			errs = append(errs, fmt.Errorf("removing run %s: %w", r.ID, err))
			continue
		}
		removed = append(removed, r)
	}
	return removed, errors.Join(errs...)
}

// unsuccessful returns the ids of the newest run that failed or was interrupted
// in every environment, and of those that it carried on. A run that cannot be
// read is nobody's.
func unsuccessful(runs []Run) map[string]bool {
	seen := map[Environment]bool{}
	ids := map[string]bool{}
	for i, r := range runs {
		s, err := r.Summary()
		if err != nil || s.Outcome() == event.Succeeded {
			continue
		}
		e := Environment{Provider: s.Provider, Stack: s.Stack}
		if !seen[e] {
			seen[e], ids[r.ID] = true, true
			addResumed(ids, runs[i:])
		}
	}
	return ids
}

// addResumed adds the ids of the runs that the first run carried on.
func addResumed(ids map[string]bool, runs []Run) {
	next := runs[0].ID
	for _, r := range runs { // from newer to older, as one run carries on another
		if r.ID != next {
			continue
		}
		ids[r.ID] = true
		if meta, err := r.Meta(); err == nil {
			next = meta.Resumes
		}
	}
}
