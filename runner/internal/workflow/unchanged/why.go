package unchanged

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/runner/internal/environment/session"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/fingerprint"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/workflow/inputs"
)

// why returns the event that says what has changed for a project since its last
// success. It is for debugging, except once a run where environment variables
// alone are the reason: users cannot see these.
func (u *Projects) why(project string, record fingerprint.Record, changed []string) event.Event {
	onlyVariables := slices.Equal(changed, []string{fingerprint.VariablesPart})
	if i := slices.Index(changed, fingerprint.VariablesPart); i >= 0 {
		changed = slices.Clone(changed)
		changed[i] = nameVariables(u.maker.ChangedVariables(record.Variables))
	}
	text := fmt.Sprintf("changed since run %s: %s", cmp.Or(record.Run, record.Done), strings.Join(changed, ", "))
	u.session.Log.Debug(text, "project", project)
	e := event.Event{Type: event.StepLog, Severity: event.Debug, Message: text}
	u.mu.Lock()
	defer u.mu.Unlock()
	if onlyVariables && !u.explained {
		u.explained = true
		e.Severity, e.Message = event.Info, text+"; projects run again when a variable changes that programs may read"
	}
	return e
}

// nameVariables returns the words for variables that have changed.
func nameVariables(names []string) string {
	const most = 5
	switch {
	case len(names) == 0:
		return "a secret environment variable"
	case len(names) == 1:
		return "the environment variable " + names[0]
	case len(names) > most:
		return fmt.Sprintf("the environment variables %s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return "the environment variables " + strings.Join(names, ", ")
}

// ChangedSince returns what has changed for a project since it was last done. A project
// without a record counts as changed.
func (u *Projects) ChangedSince(step plan.Step) []string {
	if u == nil || u.maker == nil {
		return []string{"what it depends on is not known"}
	}
	record, ok := u.records.Load(step.Project.Name)
	if !ok || record.Parts == nil {
		return []string{"what it depended on is not known"}
	}
	parts, err := u.fingerprint(context.Background(), step)
	if err != nil {
		u.session.Log.Debug("no fingerprint", "project", step.Project.Name, "error", err)
		parts = nil
	}
	return u.changed(context.Background(), step, record, parts)
}

// ChangedSources returns what has changed in a project's program and configuration since it was last done. It does
// not ask the backend.
func ChangedSources(s *session.Session, step plan.Step) []string {
	record, ok := inputs.RecordsOf(s).Load(step.Project.Name)
	if !ok {
		return nil // ChangedSince finds it once the backend is open
	}
	maker, err := inputs.NewMaker(s)
	if err != nil {
		return nil
	}
	parts, err := inputs.Parts(s, maker, step)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(record.Parts.Changes(parts), func(part string) bool {
		return !slices.Contains([]string{inputs.ProgramPart, inputs.FilesPart, "configuration", "secrets"}, part)
	})
}

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
