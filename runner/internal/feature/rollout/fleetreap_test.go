package rollout

import (
	"slices"
	"testing"
	"time"

	"mara/runner/internal/cli/operations"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/view"
	"mara/runner/internal/testing/cmdtest"
)

func TestWhatIsPastItsTime(t *testing.T) {
	t.Parallel()
	now := cmdtest.Now()
	lives := []view.Life{
		{Born: now.Add(-2 * time.Hour), TTL: time.Hour},
		{Born: now.Add(-time.Minute), TTL: time.Hour},
		{Unknown: true, TTL: time.Hour},
		{Unknown: true},
		{Unknown: true, TTL: time.Hour, Protected: "x"},
		{TTL: time.Hour},
	}
	var chosen []fleet.Environment
	for _, name := range []string{"old", "young", "unknown", "forever", "protected", "empty"} {
		chosen = append(chosen, fleet.Environment{Stack: name})
	}
	for flag, want := range map[string]struct {
		past    []string
		refused bool
	}{
		operations.RefuseUnknown: {[]string{"old"}, true}, operations.KeepUnknown: {[]string{"old"}, false},
		operations.DestroyUnknown: {[]string{"old", "unknown"}, false},
	} {
		d, _, _ := cmdtest.Deps(t)
		past, err := reapOptions{UnknownAge: flag}.judge(d, chosen, lives)
		if !slices.Equal(past, want.past) || (err != nil) != want.refused {
			t.Errorf("%s: %v, %v", flag, past, err)
		}
	}
}
