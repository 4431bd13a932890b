package typeset_test

import (
	"testing"
	"time"

	"mara/runner/internal/machine/typeset"
)

func TestAgo(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]string{
		-time.Second: "0s ago", 0: "0s ago", 119 * time.Second: "119s ago", 2 * time.Minute: "2m ago",
		119 * time.Minute: "119m ago", 2 * time.Hour: "2h ago", 47 * time.Hour: "47h ago", 48 * time.Hour: "2d ago",
		90 * 24 * time.Hour: "90d ago",
	} {
		if got := typeset.Ago(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
