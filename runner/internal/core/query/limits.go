package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"sync"
	"time"
)

// Limits bound the resources of a program. A zero field means the default.
type Limits struct {
	Time   time.Duration // of computation, without the time in which results are used
	Memory uint64        // growth of the heap in bytes
}

// The defaults of Limits, and how many results Run collects.
const (
	DefaultTime   = time.Minute
	defaultMemory = 2 << 30
	mostResults   = 1_000_000
)

// LimitError says that a program exceeded a limit.
type LimitError struct{ what string }

// Error says which limit it was.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the program was stopped: %s; does it end?", e.what)
}

// watch cancels a program that exceeds its limits.
type watch struct {
	limits Limits
	cancel context.CancelCauseFunc
	done   chan struct{}
	ended  sync.WaitGroup
	heap   uint64 // at the beginning

	mu      sync.Mutex // holds what follows
	used    time.Duration
	resumed time.Time // zero while a result is used
}

// tick is how often the limits are checked.
const tick = 50 * time.Millisecond

// newWatch starts to watch a program. The context ends when the program exceeds a limit, or
// at release.
func newWatch(ctx context.Context, limits Limits) (*watch, context.Context) {
	limits.Time = cmp.Or(limits.Time, DefaultTime)
	limits.Memory = cmp.Or(limits.Memory, defaultMemory)
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{limits: limits, cancel: cancel, done: make(chan struct{}), heap: heapSize(), resumed: time.Now()}
	w.ended.Go(w.run)
	return w, ctx
}

func (w *watch) run() {
	ticker := time.NewTicker(min(tick, w.limits.Time))
	defer ticker.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-ticker.C:
			w.check()
		}
	}
}

// check cancels a computing program that exceeds a limit.
func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.resumed.IsZero():
	case w.used+time.Since(w.resumed) > w.limits.Time:
		w.cancel(&LimitError{fmt.Sprintf("it computed for more than %s", w.limits.Time)})
	case heapSize() > w.heap+w.limits.Memory:
		w.cancel(&LimitError{fmt.Sprintf("it used more than %d MiB of memory", w.limits.Memory>>20)})
	}
}

// use calls yield with a result, and does not count its time.
func (w *watch) use(result any, yield func(any) error) error {
	w.mu.Lock()
	w.used, w.resumed = w.used+time.Since(w.resumed), time.Time{}
	w.mu.Unlock()
	err := yield(result)
	w.mu.Lock()
	w.resumed = time.Now()
	w.mu.Unlock()
	return err
}

// release ends the watch.
func (w *watch) release() {
	close(w.done)
	w.ended.Wait()
	w.cancel(nil)
}

// heapSize returns the bytes of objects on the heap.
func heapSize() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// errTooMany ends a program with more results than Run collects.
var errTooMany = &LimitError{fmt.Sprintf("it has more than %d results", mostResults)}

// ErrStop ends Each without an error.
var ErrStop = errors.New("no further results are needed")
