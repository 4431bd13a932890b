package unchanged

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mara/runner/internal/run/event"
	"mara/runner/internal/run/fingerprint"
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
