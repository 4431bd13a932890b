package lock_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mara/runner/internal/core/lock"
)

// objects are a store in memory, where each call takes a while.
type objects struct {
	mu     sync.Mutex
	all    map[string][]byte
	broken error // of the next Put
	refuse int   // how many deletions fail
}

func (o *objects) List(context.Context) (map[string][]byte, error) {
	time.Sleep(3 * time.Millisecond)
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.all), nil
}

func (o *objects) Put(_ context.Context, key string, content []byte) error {
	time.Sleep(2 * time.Millisecond)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[string][]byte{}
	}
	o.all[key] = content
	return o.broken
}

func (o *objects) Delete(_ context.Context, key string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refuse > 0 {
		o.refuse--
		return errors.New("too many requests")
	}
	delete(o.all, key)
	return nil
}

// wanting returns the options of a run.
func wanting(run string) lock.Options { return lock.Options{Owner: lock.Self("up", run, now)} }

// TestSharedIsHeldOnce: however many come at once, one at a time has it.
func TestSharedIsHeldOnce(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		synctest.Test(t, func(t *testing.T) {
			store, got := &objects{}, 0
			var holders atomic.Int32
			var mu sync.Mutex
			var group sync.WaitGroup
			for i := range 6 {
				group.Go(func() {
					time.Sleep(time.Duration(i*round) * time.Millisecond / 4)
					o := wanting(fmt.Sprintf("run-%d", i))
					o.Wait = time.Hour
					held, err := lock.AcquireShared(t.Context(), store, o)
					if err != nil {
						t.Error(err)
						return
					}
					if holders.Add(1) != 1 {
						t.Error("two have the lock")
					}
					time.Sleep(50 * time.Millisecond)
					holders.Add(-1)
					if err := held.Release(); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					got++
				})
			}
			group.Wait()
			if got != 6 || len(store.all) != 0 {
				t.Errorf("%d of 6 got it, %d objects are left", got, len(store.all))
			}
		})
	}
}

// TestSharedOwners: who has it, and who had it and died.
func TestSharedOwners(t *testing.T) {
	t.Parallel()
	self := lock.Self("destroy", "other", now)
	for name, test := range map[string]struct {
		change  func(o *lock.Owner)
		text    string // in place of the owner
		held    bool
		foreign bool
	}{
		"alive":                   {change: func(*lock.Owner) {}, held: true},
		"gone":                    {change: func(o *lock.Owner) { o.PID = 1 << 30 }},
		"process id used again":   {change: func(o *lock.Owner) { o.Started = "1" }},
		"another machine":         {change: func(o *lock.Owner) { o.Host, o.Boot = "elsewhere", "x" }, held: true, foreign: true},
		"a machine of that name":  {change: func(o *lock.Owner) { o.Boot, o.PID = "x", 1<<30 }, held: true, foreign: true},
		"a container here":        {change: func(o *lock.Owner) { o.Space, o.PID = "pid:[1]", 1<<30 }, held: true, foreign: true},
		"one that does not tell":  {change: func(o *lock.Owner) { o.Boot, o.PID = "", 1<<30 }, held: true, foreign: true},
		"something else entirely": {text: "<html>", held: true, foreign: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other, content := self, []byte(test.text)
			if test.change != nil {
				test.change(&other)
				content, _ = json.Marshal(other)
			}
			store := &objects{all: map[string][]byte{"other.json": content}}
			l, err := lock.AcquireShared(t.Context(), store, wanting("mine"))
			var held *lock.HeldError
			if errors.As(err, &held) != test.held || err != nil && (!test.held || held.Foreign != test.foreign) {
				t.Fatalf("got %v", err)
			}
			if test.held {
				if _, there := store.all["mine.json"]; there || len(store.all) != 1 {
					t.Errorf("left %v", store.all)
				}
				return
			}
			if l.Previous.Run != "other" || len(store.all) != 1 {
				t.Errorf("took over from %+v; left %v", l.Previous, store.all)
			}
		})
	}
}

// TestSharedIsReleasedInTheEnd: a backend that refuses some requests does not fail a run that has done its work.
func TestSharedIsReleasedInTheEnd(t *testing.T) {
	t.Parallel()
	for refused, want := range map[int]string{0: "", 3: "", 4: "releasing the lock in the backend: too many requests"} {
		synctest.Test(t, func(t *testing.T) {
			store := &objects{}
			l, err := lock.AcquireShared(t.Context(), store, wanting("mine"))
			if err != nil {
				t.Fatal(err)
			}
			store.refuse = refused
			got := ""
			if err := l.Release(); err != nil {
				got = err.Error()
			}
			if got != want || (len(store.all) == 0) != (want == "") {
				t.Errorf("%d refused deletions: %q, left %v", refused, got, store.all)
			}
		})
	}
}

// TestSharedThatFails: what could not be written is not left behind, because no run
// knows whether it was.
func TestSharedThatFails(t *testing.T) {
	t.Parallel()
	store := &objects{broken: errors.New("no quota")}
	if _, err := lock.AcquireShared(t.Context(), store, wanting("mine")); !errors.Is(err, store.broken) || len(store.all) > 0 {
		t.Errorf("got %v, left %v", err, store.all)
	}
}

func TestSharedWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &objects{}
		first, err := lock.AcquireShared(t.Context(), store, wanting("first"))
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(10*time.Second, func() { _ = first.Release() })
		announced := 0
		o := wanting("second")
		o.Wait, o.Waiting = time.Minute, func(lock.Owner) { announced++ }
		if _, err := lock.AcquireShared(t.Context(), store, o); err != nil || announced != 1 {
			t.Errorf("got %v, announced %d times", err, announced)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		o.Owner.Run = "third"
		if _, err := lock.AcquireShared(ctx, store, o); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestDir(t *testing.T) {
	t.Parallel()
	dir := lock.Directory(filepath.Join(t.TempDir(), "locks", "dev"))
	l, err := lock.AcquireShared(t.Context(), dir, wanting("mine"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(dir), ".nfs0001"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left, err := lock.OwnersIn(t.Context(), dir)
	if err != nil || len(left) != 1 || left[0].Owner.Run != "mine" || !left[0].IsHeld() {
		t.Errorf("got %+v, %v", left, err)
	}
	for range 2 {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	if left, err := lock.OwnersIn(t.Context(), dir); err != nil || len(left) != 0 {
		t.Errorf("left %+v, %v", left, err)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]string{
		time.Second: "less than a minute old", 90 * time.Minute: "90 minutes old", 26 * time.Hour: "26 hours old",
		72 * time.Hour: "3 days old", -time.Hour: "of unknown age",
	} {
		if got := (lock.Owner{Since: now}).Age(now.Add(age)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", age, got)
		}
	}
}
