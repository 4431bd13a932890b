package rollout

import (
	"errors"
	"slices"
	"strings"
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
	var aged []life
	for _, l := range lives {
		aged = append(aged, life{Life: l})
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
		past, err := reapOptions{UnknownAge: flag}.judge(d, chosen, aged)
		if !slices.Equal(past, want.past) || (err != nil) != want.refused {
			t.Errorf("%s: %v, %v", flag, past, err)
		}
	}
}

// TestInvalidLifetimes: an environment whose settings do not tell its lifetime stays and is named; the others are
// judged as without it.
func TestInvalidLifetimes(t *testing.T) {
	t.Parallel()
	now := cmdtest.Now()
	d, _, _ := cmdtest.Deps(t)
	chosen := []fleet.Environment{{Stack: "wrong"}, {Stack: "old"}}
	lives := []life{
		{invalid: errors.New("wrong stays: runner:ttl: 1d is not a duration")}, {Life: view.Life{Born: now.Add(-2 * time.Hour), TTL: time.Hour}},
	}
	past, err := reapOptions{UnknownAge: operations.KeepUnknown}.judge(d, chosen, lives)
	if !slices.Equal(past, []string{"old"}) || err == nil || !strings.Contains(err.Error(), "wrong stays: runner:ttl: 1d") {
		t.Errorf("past: %v, %v", past, err)
	}
}
