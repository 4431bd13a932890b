// Package lock lets one run at a time work on an environment: on this machine (Acquire) and in a backend that other
// machines share (AcquireShared). Terms records the runs, to judge Pulumi's own locks.
//
// The lock on this machine is the kernel's lock on a file (package filelock), in which the owner writes its name. The
// next owner reads the name of a dead one, because its work may be half done.
//
// The kernel only knows this machine. A file from another machine, as on a shared disk,
// proves nothing: the user has to decide (Break).
package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/filelock"
	"mara/runner/internal/machine/interrupt"
)

// Options are the inputs of Acquire and AcquireShared.
type Options struct {
	// Path is the lock file of the environment. Acquire creates its directory; AcquireShared does not use it.
	Path string
	// Owner wants the lock; it comes from Self.
	Owner Owner
	// Wait is how long to wait for a held lock.
	Wait time.Duration
	// Waiting is called once with the owner, before the wait begins. It may be nil.
	Waiting func(Owner)
}

// Lock is a held lock.
type Lock struct {
	// Previous died holding the lock, and its work may be half done; zero if no run did.
	Previous Owner
	Release  func() error
}

// interval is the time between attempts to take a held lock on this machine.
const interval = 100 * time.Millisecond

// Acquire takes the lock on this machine. It returns a *HeldError if another run still has it
// after the wait, and the cause of the context if that ends first.
func Acquire(ctx context.Context, o Options) (l *Lock, err error) {
	if err = os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, failure.RunnerDir(fmt.Errorf("creating the directory for locks: %w", err))
	}
	err = await(ctx, o, interval, func() (_ bool, err error) {
		l, err = tryAcquire(o)
		return false, err
	})
	if _, isHeld := errors.AsType[*HeldError](err); err == nil || isHeld || ctx.Err() != nil {
		return l, err
	}
	return nil, failure.RunnerDir(err)
}

// await calls try until it takes the lock or fails, or until the time to wait is over. If two runs have met, each of
// them tries again after a random time.
func await(ctx context.Context, o Options, interval time.Duration, try func() (met bool, err error)) error {
	deadline, waiting := time.Now().Add(o.Wait), o.Waiting
	for meetings := 0; ; {
		met, err := try()
		held, isHeld := errors.AsType[*HeldError](err)
		left := time.Until(deadline)
		pause := min(interval, left)
		switch {
		case isHeld && met && meetings < maxMeetings:
			meetings++
			pause = rand.N(meetingGap)
		case !isHeld || left <= 0:
			return err
		case waiting != nil:
			waiting(held.Owner)
			waiting = nil
		}
		if err := interrupt.Sleep(ctx, pause); err != nil {
			return fmt.Errorf("waiting for the lock: %w", err)
		}
	}
}

// tryAcquire takes the lock if it is free.
func tryAcquire(o Options) (*Lock, error) {
	f, err := open(o.Path)
	if err != nil {
		return nil, err
	}
	previous := readOwner(f)
	if previous != (Owner{}) && !previous.isHere() {
		return nil, errors.Join(&HeldError{Owner: previous, Foreign: true}, filelock.Release(f))
	}
	if err := writeOwner(f, o.Owner); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the lock file: %w", err), filelock.Remove(f))
	}
	return &Lock{Previous: previous, Release: func() error { return filelock.Remove(f) }}, nil
}

// open opens the file at the path and takes the kernel's lock on it.
func open(path string) (*os.File, error) {
	f, taken, err := filelock.Open(path)
	if taken {
		return nil, errors.Join(&HeldError{Owner: newOwner(f)}, f.Close())
	}
	return f, err
}

// Break removes the lock of another machine and returns its owner. The user must know that
// the run there is over. It returns a *HeldError for a lock held on this machine.
func Break(path string) (Owner, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Owner{}, nil
	}
	f, err := open(path)
	if err != nil {
		return Owner{}, err
	}
	return readOwner(f), filelock.Remove(f)
}
