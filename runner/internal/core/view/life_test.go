package view

import (
	"testing"
	"time"
)

// TestAgeOfAnEnvironment: the oldest resource counts; a state without times tells nothing.
func TestAgeOfAnEnvironment(t *testing.T) {
	t.Parallel()
	var l Life
	for state, want := range map[string]int{
		"": 0, "{}": 0, `{"resources":[{"urn":"x"},{"created":"2026-11-20T10:00:00Z"}]}`: 2,
		`{"resources":[{"created":"2026-11-20T11:00:00Z"}]}`: 1,
	} {
		if n, err := l.add([]byte(state)); err != nil || n != want {
			t.Errorf("%s: %d, %v", state, n, err)
		}
	}
	if want := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC); !l.Born.Equal(want) {
		t.Errorf("born %s", l.Born)
	}
}
