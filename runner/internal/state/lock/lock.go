// Package lock lets one run at a time work on an environment.
//
// The lock is the kernel's lock (flock) on a file, in which the owner writes its name. The
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
	"os"
	"path/filepath"
	"time"

	"mara/runner/internal/machine/interrupt"
)

// Options are the inputs of Acquire.
type Options struct {
	// Path is the lock file of the environment. Acquire creates its directory.
	Path string
	// Owner wants the lock; it comes from Self.
	Owner Owner
	// Wait is how long to wait for a held lock.
	Wait time.Duration
	// Waiting is called once with the owner, before the wait begins. It may be nil.
	Waiting func(Owner)
}

// interval is the time between attempts to take a held lock.
const interval = 100 * time.Millisecond

// Lock is a held lock.
type Lock struct {
	file     *os.File
	path     string
	previous Owner
}

// Acquire takes the lock. It returns a *HeldError if another run still has it
// after the wait, and the cause of the context if that ends first.
func Acquire(ctx context.Context, o Options) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory for locks: %w", err)
	}
	deadline, announced := time.Now().Add(o.Wait), o.Waiting == nil
	for {
		l, err := tryAcquire(o)
		held, isHeld := errors.AsType[*HeldError](err)
		left := time.Until(deadline)
		if !isHeld || left <= 0 {
			return l, err
		}
		if !announced {
			o.Waiting(held.Owner)
			announced = true
		}
		if err := interrupt.Sleep(ctx, min(interval, left)); err != nil {
			return nil, fmt.Errorf("waiting for the lock: %w", err)
		}
	}
}

// tryAcquire takes the lock if it is free.
func tryAcquire(o Options) (*Lock, error) {
	f, err := open(o.Path)
	if err != nil {
		return nil, err
	}
	l := &Lock{file: f, path: o.Path, previous: readOwner(f)}
	if l.previous != (Owner{}) && !l.previous.isHere() {
		return nil, errors.Join(&HeldError{Owner: l.previous, Foreign: true}, release(f))
	}
	if err := writeOwner(f, o.Owner); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the lock file: %w", err), l.Release())
	}
	return l, nil
}

// open opens the file at the path and takes the kernel's lock on it.
func open(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("opening the lock file: %w", err)
		}
		if err := tryLock(f); err != nil {
			return nil, errors.Join(refusal(f, err), f.Close())
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

// refusal explains why the kernel refused its lock.
func refusal(f *os.File, err error) error {
	if errors.Is(err, errTaken) {
		return &HeldError{Owner: newOwner(f)}
	}
	return fmt.Errorf("locking %s: %w", f.Name(), err)
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
	l := &Lock{file: f, path: path, previous: readOwner(f)}
	return l.previous, l.Release()
}

// release unlocks and closes the file. Closing alone does not unlock it while a child process
// that is about to start has a copy of the file descriptor.
func release(f *os.File) error {
	return errors.Join(unlock(f), f.Close())
}

// Previous returns the owner that died holding the lock, if one did. Its work
// may be half done.
func (l *Lock) Previous() (Owner, bool) { return l.previous, l.previous != Owner{} }

// Release removes the file and releases the lock. It does not remove the file of another
// process that removed ours by force.
func (l *Lock) Release() error {
	current, err := isCurrent(l.file, l.path)
	if current {
		err = remove(l.file, l.path)
	}
	if err != nil { // the remaining file must not name a dead owner
		err = errors.Join(fmt.Errorf("removing the lock file: %w", err), l.file.Truncate(0))
	}
	return errors.Join(err, release(l.file))
}
