// Package lock lets one run at a time work on an environment.
//
// The lock is the kernel's (flock) on a file, in which its holder has written
// who it is. The kernel lets go of it when the holder is gone, however it went,
// so there is no race between finding a dead owner and taking over: whoever
// gets the kernel's lock has it. The next owner learns what a dead one left in
// the file, because its work may be half done.
//
// The kernel knows only this machine. A file that another machine left, as on a
// shared disk, proves nothing: the user has to judge it (Break).
//
// The file is removed when the lock is released. Others may have opened it
// before, so whoever gets the kernel's lock checks that the file is still the
// one at the path, and starts over if it is not.
package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mara/runner/internal/interrupt"
)

// Options are the inputs of Acquire.
type Options struct {
	// Path is the lock file, one for each environment; its folder is made.
	Path string
	// Owner is who wants the lock, from Self.
	Owner Owner
	// Wait is how long to wait for a lock that another run holds.
	Wait time.Duration
	// Waiting is called once with the holder, before the wait begins; it may be
	// nil.
	Waiting func(Owner)
}

// interval is how often a lock that is held is tried again.
const interval = 100 * time.Millisecond

// Lock is a lock that is held.
type Lock struct {
	file     *os.File
	path     string
	previous Owner
}

// Acquire takes the lock. It returns a *HeldError if another run still has it
// after the wait, and the cause of the context if that ends first.
func Acquire(ctx context.Context, o Options) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder for locks: %w", err)
	}
	deadline, told := time.Now().Add(o.Wait), o.Waiting == nil
	for {
		l, err := tryAcquire(o)
		held, isHeld := errors.AsType[*HeldError](err)
		left := time.Until(deadline)
		if !isHeld || left <= 0 {
			return l, err
		}
		if !told {
			o.Waiting(held.Owner)
			told = true
		}
		if err := interrupt.Sleep(ctx, min(interval, left)); err != nil {
			return nil, fmt.Errorf("waiting for the lock: %w", err)
		}
	}
}

// tryAcquire takes the lock if nobody has it.
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

// open returns the file in the folder with the kernel's lock on it.
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

// Break removes a lock that nobody on this machine holds, and returns who left
// it. It is for a user who knows that the run on another machine is over. It
// returns a *HeldError for a lock that is held.
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

// release lets go of the kernel's lock. Closing alone would not do while a
// child process that is about to start has a copy of the file.
func release(f *os.File) error {
	return errors.Join(unlock(f), f.Close())
}

// Previous returns the owner that died holding the lock, if one did. Its work
// may be half done.
func (l *Lock) Previous() (Owner, bool) { return l.previous, l.previous != Owner{} }

// Release removes the file and gives the lock back. A file that somebody else
// has put in its place, after removing ours by force, stays.
func (l *Lock) Release() error {
	current, err := isCurrent(l.file, l.path)
	if current {
		err = remove(l.file, l.path)
	}
	if err != nil { // what is left must not look like a dead owner
		err = errors.Join(fmt.Errorf("removing the lock file: %w", err), l.file.Truncate(0))
	}
	return errors.Join(err, release(l.file))
}
