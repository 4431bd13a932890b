package cmdtest

import (
	"testing"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inputs"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/layout"
)

// LastUp returns an environment whose last up was about some projects, with these
// results; "" is the result of a project that never ran.
func LastUp(t *testing.T, results map[string]event.Result) *session.Resolved {
	t.Helper()
	kind, err := providers.ByName("kind")
	if err != nil {
		t.Fatal(err)
	}
	s := session.Unresolved(session.Deps{}, session.Options{})
	s.Provider, s.Directory, s.Settings = kind, layout.Of(t.TempDir(), false), config.Settings{
		Stack: config.Value{Text: "dev"},
	}
	if s.Plan, err = plan.New(kind); err != nil {
		t.Fatal(err)
	}
	meta := journal.Meta{Environment: s.Environment(), Fingerprint: inputs.Configuration(s)}
	WriteUp(t, s.Directory.Runs(), meta, s.Plan, results)
	return s
}
