package operations

import (
	"errors"

	"mara/projects/model/operation"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/fingerprint"
)

// invalidateDrifted makes the next up run every project in whose resources a drift
// has found changes. Their states are the same as before, so that their
// fingerprints alone would skip them.
func invalidateDrifted(o operateOptions, s *session.Session, summary *event.Summary) error {
	if o.Operation != operation.Drift {
		return nil
	}
	records := fingerprint.Records(s.Directory.Fingerprints(s.Provider.Name, s.Settings.Stack.Text))
	var errs []error
	for _, step := range summary.Steps {
		if step.Changes.Any() || len(step.Differences) > 0 {
			errs = append(errs, records.Invalidate(step.Name))
		}
	}
	return errors.Join(errs...)
}
