package unchanged

import (
	"context"
	"slices"

	"mara/runner/internal/environment/session"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/workflow/inputs"
)

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
	subject, err := inputs.Of(s, step)
	if err != nil {
		return nil
	}
	parts, err := maker.Of(subject)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(record.Parts.Changes(parts), func(part string) bool {
		return !slices.Contains([]string{inputs.ProgramPart, inputs.FilesPart, "configuration", "secrets"}, part)
	})
}
