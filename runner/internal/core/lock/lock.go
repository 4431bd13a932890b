// Package lock lets one run at a time work on an environment: on this machine (Acquire) and in a backend that other
// machines share (AcquireShared). Terms records the runs, to judge Pulumi's own locks.
//
// The lock on this machine is the kernel's lock (flock) on a file, in which the owner writes its name. The
// kernel releases it when the owner's process ends in any way, so there is no race between
// finding a dead owner and taking over its lock. The next owner reads the name of the dead
// one, because its work may be half done.
//
// The kernel only knows this machine. A file from another machine, as on a shared disk,
// proves nothing: the user has to decide (Break).
//
// The file is removed when the lock is released. Another process may have opened it before,
// so after locking a file a process checks that it is still the file at the path, and starts
// over if it is not.
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
		return nil, errors.Join(&HeldError{Owner: previous, Foreign: true}, release(f))
	}
	if err := writeOwner(f, o.Owner); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the lock file: %w", err), releaseAndRemove(f))
	}
	return &Lock{Previous: previous, Release: func() error { return releaseAndRemove(f) }}, nil
}

// open opens the file at the path and takes the kernel's lock on it.
func open(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("opening the lock file: %w", err)
		}
		switch err := tryLock(f); {
		case errors.Is(err, errTaken):
			return nil, errors.Join(&HeldError{Owner: newOwner(f)}, f.Close())
		case err != nil:
			return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
		}
		if current, err := keepCurrent(f, path); current || err != nil {
			return f, err
		}
	}
}

// keepCurrent reports whether a locked file is the one at the path. It releases the lock of a file that is not, or
// that cannot be compared.
func keepCurrent(f *os.File, path string) (bool, error) {
	current, err := isCurrent(f, path)
	if err != nil || !current {
		err = errors.Join(err, release(f))
	}
	return current, err
}

// isCurrent reports whether the open file is still the one at the path.
func isCurrent(f *os.File, path string) (bool, error) {
	opened, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("checking the lock file: %w", err)
	}
	now, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("checking the lock file: %w", err)
	}
	return os.SameFile(opened, now), nil
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
	return readOwner(f), releaseAndRemove(f)
}

// release unlocks and closes the file. Closing alone does not unlock it while a child process
// that is about to start has a copy of the file descriptor.
func release(f *os.File) error {
	return errors.Join(unlock(f), f.Close())
}

// releaseAndRemove removes the file and releases the lock. It does not remove the file of another
// process that removed ours by force.
func releaseAndRemove(f *os.File) error {
	current, err := isCurrent(f, f.Name())
	if current {
		err = remove(f)
	}
	if err != nil { // the remaining file must not name a dead owner
		err = errors.Join(fmt.Errorf("removing the lock file: %w", err), f.Truncate(0))
	}
	return errors.Join(err, release(f))
}
