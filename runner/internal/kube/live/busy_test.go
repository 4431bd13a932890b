package live

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestBusyCluster: in a cluster in which something changes all the time a change is told all the same, and changes that
// come together are told once.
func TestBusyCluster(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pause        time.Duration
		changes      int
		least, most  int
		longestDelay time.Duration
	}{
		"five a second for ten minutes": {200 * time.Millisecond, 3000, 250, 350, longest},
		"a hundred at once":             {0, 100, 1, 1, quiet},
		"one a second":                  {time.Second, 20, 20, 20, quiet},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &store{objects: []map[string][]byte{{}}, dirty: make(chan struct{}, 1)}
				ctx, cancel := context.WithCancel(t.Context())
				told, began := 0, time.Now()
				var first time.Duration
				go func() {
					_ = s.tell(ctx, func([][]byte) error {
						if told++; told == 1 {
							first = time.Since(began)
						}
						return nil
					})
				}()
				for i := range test.changes {
					s.put(0, fmt.Appendf(nil, `{"metadata":{"uid":"%d"}}`, i), true)
					time.Sleep(test.pause)
				}
				time.Sleep(longest)
				cancel()
				synctest.Wait()
				if told < test.least || told > test.most || first > test.longestDelay {
					t.Errorf("told %d times, first after %s", told, first)
				}
			})
		})
	}
}
