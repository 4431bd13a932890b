package pulumicli

import (
	"sync"
	"testing"
	"time"
)

// TestShortCommandsShareAWorker: a command rather waits a little for a busy
// worker than pay for a new one.
func TestShortCommandsShareAWorker(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	pool.patience = time.Minute
	pids := make([]string, 8)
	var all sync.WaitGroup
	_, _, _, _ = run(t, pool, "pid") // the first command starts the worker
	for i := range pids {
		all.Go(func() { pids[i], _, _, _ = run(t, pool, "pid") })
	}
	all.Wait()
	for _, pid := range pids {
		if pid == "" || pid != pids[0] {
			t.Errorf("the commands ran in the processes %v", pids)
			break
		}
	}
	if n := pool.Started(); n != 1 {
		t.Errorf("%d workers were started, want 1", n)
	}
}

// TestWarmWorkersAreUsed: a command waits for a worker that is coming.
func TestWarmWorkersAreUsed(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	pool.patience = time.Minute
	pool.Warm(2)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, _, _, err := run(t, pool, "echo"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := pool.Started(); n > 2 {
		t.Errorf("%d workers were started, want the 2 warm ones", n)
	}
}
