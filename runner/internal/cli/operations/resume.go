package operations

import (
	"context"
	"slices"

	"mara/projects/model/operation"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/run/fingerprint"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/run/plan"
)

// changedFunc returns what has changed for a project since it was done, or nothing if it is current.
type changedFunc func(step plan.Step) []string

// left returns the projects that a resumed run has to look at: unfinished projects, finished projects that have
// changed since, and the readers of either, whose inputs may change.
func left(p plan.Plan, rest journal.Resumption, op operation.Operation, changed changedFunc) []string {
	names := rest.Unfinished()
	if !op.RunsPrograms() {
		return names
	}
	for _, step := range p.Steps {
		name := step.Project.Name
		if !slices.Contains(rest.Succeeded, name) {
			continue
		}
		readsLeft := slices.ContainsFunc(
			slices.Concat(step.Reads, step.Outside), func(read string) bool { return slices.Contains(names, read) },
		)
		if len(changed(step)) > 0 || readsLeft {
			names = append(names, name)
		}
	}
	return names
}

// changedSince returns what has changed for a project since it was last done. A project
// without a record counts as changed.
func (u *unchanged) changedSince(step plan.Step) []string {
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

// changedSources returns what has changed in a project's program and configuration since it was last done. It does
// not ask the backend.
func changedSources(s *session.Session, step plan.Step) []string {
	records := fingerprint.Records(s.Directory.Fingerprints(s.Provider.Name, s.Settings.Stack.Text))
	record, ok := records.Load(step.Project.Name)
	if !ok {
		return nil // changedSince finds it once the backend is open
	}
	maker, err := fingerprints(s)
	if err != nil {
		return nil
	}
	subject, err := subjectOf(s, planned(s, step))
	if err != nil {
		return nil
	}
	parts, err := maker.Of(subject)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(record.Parts.Changes(parts), func(part string) bool {
		return !slices.Contains([]string{"program", "files", "configuration", "secrets"}, part)
	})
}

// resume stores what the resumed run has done.
func (u *unchanged) resume(w work) {
	if u != nil {
		u.resumed = w.done
	}
}

// planned returns a step as it is in the plan of the whole environment: skipping a project does not change what its
// readers depend on.
func planned(s *session.Session, step plan.Step) plan.Step {
	at := slices.IndexFunc(s.Plan.Steps, func(other plan.Step) bool { return other.Project.Name == step.Project.Name })
	if at < 0 {
		return step
	}
	return s.Plan.Steps[at]
}
