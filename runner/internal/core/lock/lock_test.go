package lock_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/lock"
)

var now = time.Date(2026, 11, 20, 19, 30, 0, 250_000_000, time.UTC)

// options want a lock in a directory of their own.
func options(t *testing.T) lock.Options {
	t.Helper()
	return lock.Options{
		Path:  filepath.Join(t.TempDir(), "locks", "kind-dev.lock"),
		Owner: lock.Self("up", "20261120-193000-250abc", now),
	}
}

func mustAcquire(t *testing.T, o lock.Options) *lock.Lock {
	t.Helper()
	l, err := lock.Acquire(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustRelease(t *testing.T, l *lock.Lock) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// leave writes a lock file as an owner that is gone has left it.
func leave(t *testing.T, path string, o lock.Owner) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	leaveText(t, path, string(text))
}

func leaveText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func expectGone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock file is still there: %v", err)
	}
}

func TestAcquireAndRelease(t *testing.T) {
	t.Parallel()
	o := options(t)
	for range 3 {
		l := mustAcquire(t, o)
		if l.Previous != (lock.Owner{}) {
			t.Errorf("taken over from %v", l.Previous)
		}
		text, err := os.ReadFile(o.Path)
		if err != nil {
			t.Fatal(err)
		}
		var got lock.Owner
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(o.Owner, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if info, err := os.Stat(o.Path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		mustRelease(t, l)
		expectGone(t, o.Path)
	}
}

func TestSelf(t *testing.T) {
	t.Parallel()
	got := lock.Self("destroy", "r", now)
	host, _ := os.Hostname()
	if got.User == "" || got.Host != host || got.PID != os.Getpid() || got.Operation != "destroy" || got.Run != "r" {
		t.Errorf("got %+v", got)
	}
	if want := now.Truncate(time.Second); !got.Since.Equal(want) {
		t.Errorf("since %v, want %v", got.Since, want)
	}
	if !strings.Contains(got.String(), "@"+host+" (process ") {
		t.Errorf("got %s", got)
	}
}

func TestHeld(t *testing.T) {
	t.Parallel()
	o := options(t)
	l := mustAcquire(t, o)
	defer mustRelease(t, l)
	_, err := lock.Acquire(t.Context(), o)
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Foreign {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff(o.Owner, held.Owner); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := "the environment is locked by " + o.Owner.String() + ": up, run 20261120-193000-250abc, since 2026-11-20 19:30:00 UTC"
	if err.Error() != want || held.NextStep() != "wait for it with --lock-timeout" {
		t.Errorf("got %v; %s", err, held.NextStep())
	}
	if _, err := lock.Break(o.Path); !errors.As(err, &held) {
		t.Errorf("broke a lock that is held: %v", err)
	}
}

func TestHeldErrorWithoutOwner(t *testing.T) {
	t.Parallel()
	if got := (&lock.HeldError{}).Error(); got != "the environment is locked by another run" {
		t.Error(got)
	}
}

func TestLeftLocks(t *testing.T) {
	t.Parallel()
	self := lock.Self("up", "old", now)
	change := func(f func(*lock.Owner)) string {
		o := self
		f(&o)
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	here := lock.Abandoned // for another host name
	if self.Boot == "" {
		here = lock.Foreign
	}
	tests := map[string]struct {
		text    string
		foreign bool
		dead    string // run of the owner that is taken over from
		state   lock.State
	}{
		"empty":   {state: lock.Free},
		"rubbish": {text: "{\"user\":\"a", state: lock.Free},
		"longer than the next": {text: change(func(o *lock.Owner) { o.PID, o.Run = 1<<30, strings.Repeat("x", 5000) }),
			dead: strings.Repeat("x", 5000), state: lock.Abandoned},
		"dead process":   {text: change(func(o *lock.Owner) { o.PID = 1 << 30 }), dead: "old", state: lock.Abandoned},
		"pid used again": {text: change(func(o *lock.Owner) { o.Started = "1" }), dead: "old", state: lock.Abandoned},
		"restarted machine": {text: change(func(o *lock.Owner) { o.Boot = "before" }), dead: "old",
			state: lock.Abandoned},
		"container":              {text: change(func(o *lock.Owner) { o.Host = "3f2a" }), dead: "old", foreign: self.Boot == "", state: here},
		"container of this name": {text: change(func(o *lock.Owner) { o.Space = "pid:[1]" }), dead: "old", state: lock.Abandoned},
		"another name of this machine": {text: change(func(o *lock.Owner) { o.Host, o.PID = "elsewhere", 1<<30 }), dead: "old",
			foreign: self.Boot == "", state: here},
		"other machine": {text: change(func(o *lock.Owner) { o.Host, o.Boot = "elsewhere", "other" }), foreign: true,
			state: lock.Foreign},
		"machine that does not tell": {text: change(func(o *lock.Owner) { o.Host, o.Boot = "elsewhere", "" }), foreign: true,
			state: lock.Foreign},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			leaveText(t, o.Path, tt.text)
			if state, _, err := lock.Inspect(o.Path); state != tt.state || err != nil {
				t.Errorf("state %s, %v, want %s", state, err, tt.state)
			}
			l, err := lock.Acquire(t.Context(), o)
			if tt.foreign {
				expectForeign(t, o.Path, err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if l.Previous.Run != tt.dead {
				t.Errorf("taken over from %+v", l.Previous)
			}
			if _, owner, err := lock.Inspect(o.Path); err != nil || owner != o.Owner {
				t.Errorf("owner %+v, %v", owner, err)
			}
			mustRelease(t, l)
			expectGone(t, o.Path)
		})
	}
}

// expectForeign checks that a lock of another machine is refused, stays, and
// can be broken by hand.
func expectForeign(t *testing.T, path string, err error) {
	t.Helper()
	var held *lock.HeldError
	if !errors.As(err, &held) || !held.Foreign || !strings.Contains(err.Error(), "another machine") || !strings.Contains(held.NextStep(), "unlock") {
		t.Fatalf("got %v", err)
	}
	if owner, err := lock.Break(path); err != nil || owner.Run != "old" {
		t.Errorf("breaking: %+v, %v", owner, err)
	}
	expectGone(t, path)
}

func TestBreakWhereThereIsNoLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none", "x.lock")
	if owner, err := lock.Break(path); err != nil || owner != (lock.Owner{}) {
		t.Errorf("got %+v, %v", owner, err)
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	o := options(t)
	if state, _, err := lock.Inspect(o.Path); state != lock.Free || err != nil {
		t.Errorf("got %s, %v", state, err)
	}
	l := mustAcquire(t, o)
	for range 3 { // it does not get into the way of others
		if state, owner, err := lock.Inspect(o.Path); state != lock.Held || owner != o.Owner || err != nil {
			t.Errorf("got %s by %+v, %v", state, owner, err)
		}
	}
	mustRelease(t, l)
	if state, _, _ := lock.Inspect(o.Path); state != lock.Free {
		t.Errorf("got %s", state)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := options(t)
		first := mustAcquire(t, o)
		var waited []lock.Owner
		o.Wait, o.Waiting = time.Minute, func(owner lock.Owner) { waited = append(waited, owner) }
		time.AfterFunc(30*time.Second, func() { mustRelease(t, first) })
		began := time.Now()
		l := mustAcquire(t, o)
		if took := time.Since(began); took < 30*time.Second || took > 31*time.Second {
			t.Errorf("took %v", took)
		}
		if len(waited) != 1 || waited[0] != o.Owner {
			t.Errorf("announced the wait for %v", waited)
		}
		mustRelease(t, l)
	})
}

func TestWaitInVain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := options(t)
		first := mustAcquire(t, o)
		defer mustRelease(t, first)
		o.Wait = time.Minute
		began := time.Now()
		_, err := lock.Acquire(t.Context(), o)
		var held *lock.HeldError
		if took := time.Since(began); !errors.As(err, &held) || took != time.Minute {
			t.Errorf("got %v after %v", err, took)
		}
	})
}

func TestWaitForAnotherMachine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := options(t)
		leave(t, o.Path, lock.Owner{Host: "elsewhere", Boot: "other", Run: "theirs", PID: 1})
		o.Wait = time.Minute
		time.AfterFunc(10*time.Second, func() { _ = os.Remove(o.Path) }) // as its run does at its end
		mustRelease(t, mustAcquire(t, o))
	})
}

func TestCancelledWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := options(t)
		first := mustAcquire(t, o)
		defer mustRelease(t, first)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("interrupted")
		time.AfterFunc(time.Second, func() { cancel(cause) })
		o.Wait = time.Hour
		if _, err := lock.Acquire(ctx, o); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAcquireErrors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"directory": filepath.Join(file, "locks", "x"), "file": filepath.Dir(file)} {
		_, err := lock.Acquire(t.Context(), lock.Options{Path: path, Wait: time.Hour})
		var held *lock.HeldError
		if err == nil || errors.As(err, &held) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestReleaseLeavesTheFileOfAnother(t *testing.T) {
	t.Parallel()
	o := options(t)
	first := mustAcquire(t, o)
	if err := os.Remove(o.Path); err != nil { // by force
		t.Fatal(err)
	}
	second := mustAcquire(t, o)
	mustRelease(t, first)
	if state, _, _ := lock.Inspect(o.Path); state != lock.Held {
		t.Errorf("the lock of the second is %s", state)
	}
	mustRelease(t, second)
	expectGone(t, o.Path)
}

func TestReleaseWithoutTheDir(t *testing.T) {
	t.Parallel()
	o := options(t)
	l := mustAcquire(t, o)
	if err := os.RemoveAll(filepath.Dir(o.Path)); err != nil {
		t.Fatal(err)
	}
	mustRelease(t, l)
}

// TestOnlyOneGoroutine lets many goroutines fight for the lock.
func TestOnlyOneGoroutine(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Wait = time.Minute
	const goroutines, rounds = 16, 12
	var inside atomic.Int32
	counter := 0 // guarded by the lock: the race detector watches
	errs := make(chan error)
	for range goroutines {
		go func() {
			var all error
			for range rounds {
				l, err := acquireBusily(t.Context(), o)
				if err != nil {
					all = errors.Join(all, err)
					continue
				}
				if inside.Add(1) != 1 {
					all = errors.Join(all, errors.New("two at once"))
				}
				counter++
				inside.Add(-1)
				all = errors.Join(all, l.Release())
			}
			errs <- all
		}()
	}
	for range goroutines {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if counter != goroutines*rounds {
		t.Errorf("counted %d, want %d", counter, goroutines*rounds)
	}
	expectGone(t, o.Path)
}

// acquireBusily does not sleep between its attempts, as waiting does.
func acquireBusily(ctx context.Context, o lock.Options) (*lock.Lock, error) {
	deadline := time.Now().Add(o.Wait)
	o.Wait = 0
	for {
		l, err := lock.Acquire(ctx, o)
		var held *lock.HeldError
		if !errors.As(err, &held) || time.Now().After(deadline) {
			return l, err
		}
	}
}
