// Package filelock locks files with the kernel's lock, which ends with its process in any way: there is no race between
// finding a dead owner and taking over its lock.
//
// The file is removed when the lock is released. Another process may have opened it before, so after locking a file a
// process checks that it is still the file at the path, and starts over if it is not.
package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Open opens the file at the path, which it creates, and takes the kernel's lock on it. If another process has the
// lock, the file is open without it.
func Open(path string) (f *os.File, taken bool, err error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, false, fmt.Errorf("opening the lock file: %w", err)
		}
		if taken, err := Try(f); err != nil {
			return nil, false, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
		} else if taken {
			return f, true, nil
		}
		if current, err := keepCurrent(f, path); current || err != nil {
			return f, false, err
		}
	}
}

// Try takes the kernel's lock on an open file, or reports without waiting that another process has it.
func Try(f *os.File) (taken bool, err error) {
	err = tryLock(f)
	if errors.Is(err, errTaken) {
		return true, nil
	}
	return false, err
}

// keepCurrent reports whether a locked file is the one at the path. It releases the lock of a file that is not, or
// that cannot be compared.
func keepCurrent(f *os.File, path string) (bool, error) {
	current, err := isCurrent(f, path)
	if err != nil || !current {
		err = errors.Join(err, Release(f))
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

// Release unlocks and closes the file. Closing alone does not unlock it while a child process that is about to start
// has a copy of the file descriptor.
func Release(f *os.File) error { return errors.Join(Unlock(f), f.Close()) }

// Remove removes the file and releases the lock. It does not remove the file of another process that removed ours by
// force.
func Remove(f *os.File) error {
	current, err := isCurrent(f, f.Name())
	if current {
		err = remove(f)
	}
	if err != nil { // the remaining file must not name a dead owner
		err = errors.Join(fmt.Errorf("removing the lock file: %w", err), f.Truncate(0))
	}
	err = errors.Join(err, Release(f))
	if current {
		removeClosed(f.Name())
	}
	return err
}
