package preflight

import (
	"slices"
	"testing"

	"mara/projects/model/operation"
	"mara/providers"
)

// TestNamed: every check that a provider names exists, and every check that
// exists is named.
func TestNamed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, p := range providers.All() {
		for _, check := range p.Checks {
			used[check.Name] = true
			if named()[check.Name] == nil {
				t.Errorf("%s names the check %q, which does not exist", p.Name, check.Name)
			}
		}
	}
	for name, make := range named() {
		check := make(Facts{})
		if !used[name] || check.Title == "" || !slices.Contains(Groups(), check.Group) || check.Look == nil {
			t.Errorf("%s is used: %v; %+v", name, used[name], check)
		}
	}
}

// TestForProvider: what is only useful makes no problems.
func TestForProvider(t *testing.T) {
	t.Parallel()
	p, err := providers.ByName("linode")
	if err != nil {
		t.Fatal(err)
	}
	facts := Facts{Operation: "refresh", Env: map[string]string{}}
	for op, want := range map[operation.Operation]Status{operation.Up: Problem, operation.Refresh: Warning} {
		facts.Operation = op
		for _, check := range ForProvider(p, []string{"kic-image-build"}, facts) {
			if check.Name != "docker" {
				continue
			}
			if got := worst(check.Look(t.Context())); got != want {
				t.Errorf("%s: got %s", op, got)
			}
		}
	}
}
