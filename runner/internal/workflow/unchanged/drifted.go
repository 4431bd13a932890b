package unchanged

import (
	"errors"

	"mara/runner/internal/environment/session"
	"mara/runner/internal/run/event"
	"mara/runner/internal/workflow/inputs"
)

// InvalidateDrifted makes the next up run every project in whose resources a drift
// has found changes. Their states are the same as before, so that their
// fingerprints alone would skip them.
func InvalidateDrifted(s *session.Session, summary *event.Summary) error {
	records := inputs.RecordsOf(s)
	var errs []error
	for _, step := range summary.Steps {
		if step.Changes.Any() || len(step.Differences) > 0 {
			errs = append(errs, records.Invalidate(step.Name))
		}
	}
	return errors.Join(errs...)
}
