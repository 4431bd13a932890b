package operate

import (
	"slices"
	"testing"

	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/unchanged"
	"mara/runner/internal/core/updateplan"
)

// TestAddedLosses: what a second preview deletes or replaces counts unless the first
// has shown a loss of the same resource.
func TestAddedLosses(t *testing.T) {
	t.Parallel()
	steps := func(ops ...string) (p updateplan.Project) {
		for i, op := range ops {
			if op != "" {
				p.Steps = append(p.Steps, updateplan.Step{Op: op, URN: string(rune('a' + i))})
			}
		}
		return p
	}
	for _, test := range []struct {
		name         string
		first, later updateplan.Project
		want         int
	}{
		{"nothing", steps("same"), steps("same"), 0},
		{"an update is no loss", steps("same"), steps("update"), 0},
		{"a replacement", steps("same"), steps("replace"), 1},
		{"a replacement instead of an update", steps("update"), steps("replace"), 1},
		{"a deletion", steps("same"), steps("delete"), 1},
		{"a resource that the first did not show", steps(), steps("delete"), 1},
		{"approved", steps("replace", "delete"), steps("replace", "delete"), 0},
		{"a deletion instead of a replacement", steps("replace"), steps("delete"), 1},
		{"another resource", steps("replace", "same"), steps("replace", "replace"), 1},
		{"less than approved", steps("replace"), steps("same"), 0},
	} {
		if got := addedLosses(test.first, test.later); len(got) != test.want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// TestNoSecondLook: nothing is previewed again without a guard, or where all was known.
func TestNoSecondLook(t *testing.T) {
	t.Parallel()
	if (*secondLook)(nil).isDue("app", nil) || (&secondLook{first: map[string]updateplan.Project{}}).isDue("app", []string{"program"}) {
		t.Error("a project is previewed again for nothing")
	}
}

// TestChangeThatCannotBeTold: without fingerprints, a project counts as changed since its preview. If the preview was
// partial, it is previewed again for the new outputs anyway.
func TestChangeThatCannotBeTold(t *testing.T) {
	t.Parallel()
	l := &secondLook{judge: judge{&job{}}, first: map[string]updateplan.Project{"known": {}, "partial": {Unknown: []string{"net"}}}}
	for name, want := range map[string][]string{"known": {unchanged.Incomparable}, "partial": nil, "not previewed": nil} {
		step := plan.Step{}
		step.Project.Name = name
		if got := l.changed(nil, step); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
