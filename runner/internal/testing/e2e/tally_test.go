package e2e

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// tally counts how the cases of a test end. One that did not run has not passed.
type tally struct{ passed, failed atomic.Int64 }

// newTally returns a tally of so many cases, which is printed when the test ends. A test none of whose cases ran fails.
func newTally(t *testing.T, name string, cases int) *tally {
	t.Helper()
	count := &tally{}
	t.Cleanup(func() {
		fmt.Println(count.text(name, cases))
		if count.passed.Load()+count.failed.Load() == 0 {
			t.Errorf("%s: no case ran", name)
		}
	})
	return count
}

func (c *tally) text(name string, cases int) string {
	passed, failed := c.passed.Load(), c.failed.Load()
	return fmt.Sprintf("%s: %d of %d cases passed, %d failed, %d did not run", name, passed, cases, failed,
		int64(cases)-passed-failed)
}

// count counts a case when it ends.
func (c *tally) count(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		switch {
		case t.Failed():
			c.failed.Add(1)
		case !t.Skipped():
			c.passed.Add(1)
		}
	})
}

// TestTally: a case that is skipped, or whose turn never comes, has not passed.
func TestTally(t *testing.T) {
	t.Parallel()
	count := &tally{}
	t.Run("cases", func(t *testing.T) {
		for name, skip := range map[string]bool{"runs": false, "runs, too": false, "does not": true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				count.count(t)
				if skip {
					t.Skip("what it needs is not here")
				}
			})
		}
	})
	if got, want := count.text("chaos", 5), "chaos: 2 of 5 cases passed, 0 failed, 3 did not run"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
