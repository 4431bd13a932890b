package executor_test

import (
	"testing"
	"testing/synctest"

	"mara/projects/model/operation"
	"mara/providers"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
)

func TestRealPlans(t *testing.T) {
	t.Parallel()
	for _, provider := range providers.All() {
		up, err := plan.New(provider)
		if err != nil {
			t.Fatal(err)
		}
		for op, p := range map[operation.Operation]plan.Plan{operation.Up: up, operation.Destroy: up.Reverse()} {
			for _, limit := range []int{1, 4, 100} {
				synctest.Test(t, func(t *testing.T) { expectFullRun(t, p, op, limit) })
			}
		}
	}
}

// expectFullRun runs a plan in which nothing fails under the eyes of a referee.
func expectFullRun(t *testing.T, p plan.Plan, op operation.Operation, limit int) {
	t.Helper()
	ref := &referee{t: t, limit: limit, finished: map[string]bool{}}
	hooks := &hookLog{}
	_, err := executor.Run(t.Context(), executor.Options{
		Plan: p, Operation: op, Parallel: limit, Operator: ref, Emit: func(event.Event) {}, Hook: hooks.run,
	})
	if err != nil || len(ref.order) != len(p.Steps) {
		t.Errorf("%s of %s: %d of %d steps ran, %v", op, p.Provider, len(ref.order), len(p.Steps), err)
	}
	if limit == 1 {
		expectListedOrder(t, p, ref.order)
	}
	want := 2 // that of the cluster, and that of the application, which a destroy has nothing to undo of
	if op.Destroys() {
		want = 1
	}
	if provider, err := providers.ByName(p.Provider); err != nil || provider.Existing != nil { // without a hook of its own
		want--
	}
	if len(hooks.calls) != want {
		t.Errorf("%s of %s: hooks %v, want %d", op, p.Provider, hooks.calls, want)
	}
}
