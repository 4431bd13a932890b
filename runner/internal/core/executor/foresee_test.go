package executor_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"mara/runner/internal/core/executor"
)

// foreseer is a gate that notes what it is told of the next steps.
type foreseer struct {
	*gate
	told *told
}

type told struct {
	mu   sync.Mutex // guards last
	last string
}

// Foresee implements executor.Foreseer.
func (f foreseer) Foresee(next []executor.Waiting) {
	var words []string
	for _, w := range next {
		word := w.Step.Project.Name
		if w.Running {
			word += "!"
		}
		for _, position := range w.For {
			word += " " + string(rune('a'+position))
		}
		words = append(words, word)
	}
	f.told.mu.Lock()
	defer f.told.mu.Unlock()
	f.told.last = strings.Join(words, ", ")
}

func (t *told) expect(tt *testing.T, want string) {
	tt.Helper()
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last != want {
		tt.Errorf("told of %q, want %q", t.last, want)
	}
}

// TestForesee: an operator is told which steps come next, and for what they wait; not of those that will not run.
func TestForesee(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := &told{}
		h := begin(t.Context(), t, planOf("a", "b:a", "c:b", "d", "e:d"), func(o *executor.Options) {
			o.Parallel, o.OnError = 1, executor.Continue
			o.Operator = foreseer{o.Operator.(*gate), seen}
		})
		seen.expect(t, "a!, d, b a, e d, c b a")
		h.succeed("a")
		seen.expect(t, "b!, d, c b, e d")
		h.fail("b")
		seen.expect(t, "d!, e d")
		close(h.stop)
		seen.expect(t, "d!")
		h.succeed("d")
		seen.expect(t, "")
		<-h.end
	})
}
