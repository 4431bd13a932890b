package operations

import (
	"testing"
	"time"

	"mara/runner/internal/core/leftovers"
	"mara/runner/internal/core/lock"
)

// TestMayBeHeld: without --force, only locks whose holders are certainly gone are removed.
func TestMayBeHeld(t *testing.T) {
	t.Parallel()
	here := lock.Self("up", "run", time.Now())
	if here.Boot == "" {
		t.Skip("the system does not name the run of its kernel")
	}
	dead, stranger := here, here
	dead.PID, dead.Started = 1<<30, "1"
	stranger.Host, stranger.Boot = "elsewhere", "another"
	for _, test := range []struct {
		name   string
		state  lock.State
		shared []lock.Left
		locks  []leftovers.Lock
		want   int
	}{
		{"nothing", lock.Free, nil, nil, 0},
		{"dead ones", lock.Abandoned, []lock.Left{{Owner: dead}}, []leftovers.Lock{{Project: "a", Dead: true}}, 0},
		{"another machine's", lock.Foreign, nil, nil, 1},
		{"another machine's in the backend", lock.Free, []lock.Left{{Owner: stranger}, {Owner: dead}}, nil, 1},
		{"Pulumi's", lock.Free, nil, []leftovers.Lock{{Project: "a"}, {Project: "b", Dead: true}}, 1},
	} {
		if got := mayBeHeld(test.state, stranger, test.shared, test.locks); len(got) != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}
