package journal

import (
	"errors"
	"os"
	"time"

	"mara/runner/internal/core/event"
)

// Retention says which runs are kept.
type Retention struct {
	Runs int           // the newest, so many
	Age  time.Duration // none that began longer ago; zero keeps any
}

// Usual returns how many runs are kept of a number of environments: some runs of
// each.
func Usual(environments int) Retention {
	const (
		least, each = 50, 5
		day         = 24 * time.Hour
	)
	return Retention{Runs: max(least, each*environments), Age: 90 * day}
}

// Prune removes runs that are too many or too old. It keeps the newest run and, of
// every environment, the last run that did not succeed, together with the runs
// that it resumed: a user may come back to it.
func Prune(dir string, keep Retention, now time.Time) error {
	runs, err := List(dir)
	if err != nil {
		return err
	}
	candidates := keep.beyond(runs, now)
	if len(candidates) == 0 {
		return nil
	}
	wanted := unsuccessful(runs)
	var errs []error
	for _, r := range candidates {
		if !wanted[r.ID] {
			errs = append(errs, os.RemoveAll(r.Dir))
		}
	}
	return errors.Join(errs...)
}

// beyond returns those of the runs, the newest of which comes first, that are
// not kept for their number and age.
func (k Retention) beyond(runs []Run, now time.Time) []Run {
	for i, r := range runs {
		tooMany := i >= max(k.Runs, 1)
		tooOld := i > 0 && k.Age > 0 && now.Sub(r.Began()) > k.Age
		if tooMany || tooOld {
			return runs[i:] // the others are older
		}
	}
	return nil
}

// unsuccessful returns the IDs of the newest run that failed or was interrupted in
// every environment, and of the runs that it resumed. A run that cannot be read is
// ignored.
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

// addResumed adds the IDs of the runs that the first run resumed.
func addResumed(ids map[string]bool, runs []Run) {
	next := runs[0].ID
	for _, r := range runs { // from newer to older, as one run resumes another
		if r.ID != next {
			continue
		}
		ids[r.ID] = true
		if meta, err := r.Meta(); err == nil {
			next = meta.Resumes
		}
	}
}
