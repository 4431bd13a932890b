package unchanged

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/inputs"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/typeset"
)

// why returns the event that says why a project runs. It is for debugging, except once a run where environment
// variables alone are the reason: users cannot see these.
func (u *Projects) why(project string, record fingerprint.Record, recorded bool, changed []string,
	details fingerprint.Details) event.Event {
	reasons := u.reasons(record, recorded, changed, details)
	text := "runs because of " + strings.Join(reasons, ", ")
	onlyVariables := recorded && slices.Equal(changed, []string{fingerprint.VariablesPart})
	since := cmp.Or(record.Run, record.Done)
	if since != "" && len(changed) > 0 {
		text = fmt.Sprintf("changed since run %s: %s", since, strings.Join(reasons, ", "))
	}
	u.session.Log.Debug(text, "project", project)
	e := event.Event{Type: event.StepLog, Severity: event.Debug, Message: text, Why: reasons}
	u.mu.Lock()
	defer u.mu.Unlock()
	if onlyVariables && !u.explained {
		u.explained = true
		e.Severity, e.Message = event.Info, text+"; projects run again when a variable changes that programs may read"
	}
	return e
}

// reasons lists what makes a project run.
func (u *Projects) reasons(record fingerprint.Record, recorded bool, changed []string,
	details fingerprint.Details) []string {
	var reasons []string
	switch {
	case !recorded:
		return []string{"no success is recorded here"}
	case slices.Equal(changed, []string{Incomparable}): // each of its runs leaves an empty record
		return changed
	case record.Done == "" && record.Run == "":
		return []string{"its last run did not succeed, or it has drifted"}
	case record.Run == "" && record.Again != "":
		reasons = append(reasons, record.Again)
	}
	for _, part := range changed {
		names := details.Changed(record.Details, part)
		if part == fingerprint.VariablesPart {
			names = u.maker.ChangedVariables(record.Variables)
		}
		if project, isOutput := strings.CutPrefix(part, fingerprint.OutputsPart); isOutput && record.Parts[part] == "" {
			reasons = append(reasons, "the outputs of "+project+", which it did not read before")
			continue
		}
		reasons = append(reasons, namePart(part, names))
	}
	switch {
	case len(reasons) > 0:
		return reasons
	case !u.maySkip:
		return []string{"nothing has changed, and this operation runs all projects"}
	}
	return []string{"its last run is not recorded as complete"}
}

// namePart returns the words for a part that has changed, with the names of what has changed in it.
func namePart(part string, names []string) string {
	project, isOutput := strings.CutPrefix(part, fingerprint.OutputsPart)
	switch {
	case isOutput && len(names) == 0:
		return "a secret output of " + project
	case isOutput:
		return named("output", names, 3) + " of " + project
	case len(names) == 0:
		return cmp.Or(partWords[part], part)
	case part == "configuration":
		return named("key", names, 3)
	case part == fingerprint.VariablesPart:
		return named("environment variable", names, 5)
	}
	return named("file", names, 3)
}

// named returns names after their noun: "the file a", "the files a, b and 3 more".
func named(noun string, names []string, most int) string {
	if len(names) > 1 {
		noun += "s"
	}
	return "the " + noun + " " + typeset.Few(names, most)
}

// partWords are words for parts of which no more is known.
var partWords = map[string]string{
	"imports": "what Pulumi ESC has for it, which cannot be compared", "hooks": "a hook that has to run", "state": "its state, which something else has changed",
	"setting": "the backend, the stack or the provider", "programs": "the runner, its engine or a program that it starts",
	"configuration": "its configuration", inputs.ProgramPart: "its program", inputs.FilesPart: "a file that its configuration names",
	"plugins": "the installed plugins", "plan": "its place in the plan", "secrets": "a stored secret",
	fingerprint.VariablesPart: "a secret environment variable",
}

// Explain says why a preview runs a project: what an up would find changed. It returns what the project depends on now.
func (u *Projects) Explain(ctx context.Context, step plan.Step, emit func(event.Event)) Look {
	if u == nil || u.maker == nil {
		return Look{}
	}
	record, recorded := u.records.Load(step.Project.Name)
	parts, details, changed := u.compare(ctx, step, record)
	emit(u.why(step.Project.Name, record, recorded, changed, details))
	if parts == nil {
		return u.Look(step) // the outputs that it reads may be what could not be read
	}
	return Look{withoutOutputs(parts), details}
}

// withoutOutputs returns a fingerprint without the outputs that the project reads.
func withoutOutputs(parts fingerprint.Fingerprint) fingerprint.Fingerprint {
	own := maps.Clone(parts)
	maps.DeleteFunc(own, func(part, _ string) bool { return strings.HasPrefix(part, fingerprint.OutputsPart) })
	return own
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
	_, _, changed := u.compare(context.Background(), step, record)
	return changed
}

// Incomparable stands for a change that cannot be told, for lack of a fingerprint.
const Incomparable = "something that cannot be compared"

// Look is what a project depended on at some moment, except for the outputs that it reads. The zero Look is one that
// could not be taken.
type Look struct {
	parts   fingerprint.Fingerprint
	details fingerprint.Details
}

// Known reports whether the look could be taken.
func (l Look) Known() bool { return l.parts != nil }

// MaySkip reports whether a project will be skipped unless the outputs that it reads change: it is as at its last
// success, as far as a look shows.
func (u *Projects) MaySkip(step plan.Step, look Look) bool {
	if u == nil {
		return false
	}
	record, ok := u.records.Load(step.Project.Name)
	return ok && u.allowsSkip(step.Project.Name, record) && len(withoutOutputs(record.Parts).Changes(look.parts)) == 0
}

// Look returns what a project depends on now.
func (u *Projects) Look(step plan.Step) Look {
	if u == nil || u.maker == nil {
		return Look{}
	}
	subject, err := inputs.Of(u.session.Resolved, step)
	if err != nil {
		return Look{}
	}
	parts, details, err := u.maker.Look(subject)
	if err != nil {
		u.session.Log.Debug("no fingerprint", "project", step.Project.Name, "error", err)
		return Look{}
	}
	return Look{parts, details}
}

// ChangedSources returns in words what has changed in a project since an earlier look. What cannot be compared counts
// as changed.
func (u *Projects) ChangedSources(step plan.Step, since Look) []string {
	now := u.Look(step)
	if now.parts == nil || since.parts == nil {
		return []string{Incomparable}
	}
	var changed []string
	for _, part := range since.parts.Changes(now.parts) {
		changed = append(changed, namePart(part, now.details.Changed(since.details, part)))
	}
	return changed
}

// ChangedSources returns what has changed in a project's program and configuration since it was last done. It does
// not ask the backend.
func ChangedSources(s *session.Resolved, step plan.Step) []string {
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
func InvalidateDrifted(s *session.Resolved, summary *event.Summary) error {
	records := inputs.RecordsOf(s)
	var errs []error
	for _, step := range summary.Steps {
		if step.Changes.Any() || len(step.Differences) > 0 {
			errs = append(errs, records.Invalidate(step.Name))
		}
	}
	return errors.Join(errs...)
}
