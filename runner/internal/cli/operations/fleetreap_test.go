package operations

import (
	"slices"
	"testing"
	"time"

	"mara/config"
	"mara/runner/internal/repo/fleet"
	"mara/runner/internal/testing/cmdtest"
)

func TestWhatIsPastItsTime(t *testing.T) {
	t.Parallel()
	now := cmdtest.Now()
	lives := []life{
		{born: now.Add(-2 * time.Hour), ttl: time.Hour},
		{born: now.Add(-time.Minute), ttl: time.Hour},
		{isUnknown: true, ttl: time.Hour},
		{isUnknown: true},
		{isUnknown: true, ttl: time.Hour, protected: config.Origin{File: "x"}},
		{ttl: time.Hour},
	}
	var chosen []fleet.Environment
	for _, name := range []string{"old", "young", "unknown", "forever", "protected", "empty"} {
		chosen = append(chosen, fleet.Environment{Stack: name})
	}
	for flag, want := range map[string]struct {
		past    []string
		refused bool
	}{
		refuseUnknown: {[]string{"old"}, true}, keepUnknown: {[]string{"old"}, false},
		destroyUnknown: {[]string{"old", "unknown"}, false},
	} {
		d, _, _ := cmdtest.Deps(t)
		past, err := reapOptions{UnknownAge: flag}.judge(d, chosen, lives)
		if !slices.Equal(past, want.past) || (err != nil) != want.refused {
			t.Errorf("%s: %v, %v", flag, past, err)
		}
	}
}

// TestAgeOfAnEnvironment: the oldest resource counts; a state without times tells nothing.
func TestAgeOfAnEnvironment(t *testing.T) {
	t.Parallel()
	var l life
	for state, want := range map[string]int{
		"": 0, "{}": 0, `{"resources":[{"urn":"x"},{"created":"2026-11-20T10:00:00Z"}]}`: 2,
		`{"resources":[{"created":"2026-11-20T11:00:00Z"}]}`: 1,
	} {
		if n, err := l.add([]byte(state)); err != nil || n != want {
			t.Errorf("%s: %d, %v", state, n, err)
		}
	}
	if want := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC); !l.born.Equal(want) {
		t.Errorf("born %s", l.born)
	}
}
