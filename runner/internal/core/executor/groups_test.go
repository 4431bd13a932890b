package executor_test

import (
	"testing"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
)

func TestGroupsHaveLimitsOfTheirOwn(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a1", "a2", "a3", "b1", "c1"), func(o *executor.Options) {
			o.Parallel = 4
			o.Group = func(s plan.Step) (string, int) {
				name := s.Project.Name[:1]
				return name, map[string]int{"a": 2, "b": 1}[name]
			}
		})
		h.expectRunning("a1", "a2", "b1", "c1")
		h.succeed("b1")
		h.expectRunning("a1", "a2", "c1")
		h.succeed("a2")
		h.expectRunning("a1", "a3", "c1")
		for _, name := range []string{"a1", "a3", "c1"} {
			h.succeed(name)
		}
		if _, err := h.wait(); err != nil {
			t.Error(err)
		}
	})
}

// TestToleratedFailures: the run goes on, and fails all the same.
func TestToleratedFailures(t *testing.T) {
	repeated(t, func(t *testing.T) {
		allowed := 1
		h := begin(t.Context(), t, planOf("a", "b", "end: a b", "c: end", "d: end"), func(o *executor.Options) {
			o.Operation = operation.Up
			o.Tolerate = func(string) bool { allowed--; return allowed >= 0 }
		})
		h.expectRunning("a", "b")
		h.fail("a")
		h.expectRunning("b")
		h.succeed("b")
		h.succeed("end")
		h.expectRunning("c", "d")
		h.fail("c")
		h.succeed("d")
		r, err := h.wait()
		if err == nil || r.Outcome != event.Failed {
			t.Errorf("got %s, %v", r.Outcome, err)
		}
		expectLines(t, r, "a failed", "b succeeded", "end succeeded", "c failed", "d succeeded")
	})
}
