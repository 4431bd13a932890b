package filelock

import (
	"os"

	"golang.org/x/sys/windows"
)

// errTaken is the kernel's error for a lock that another process holds.
const errTaken = windows.ERROR_LOCK_VIOLATION

// beyond returns a position in a file after any owner's name. On Windows, other processes cannot
// read the locked part of a file, and they have to read the name.
func beyond() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1} }

func tryLock(f *os.File) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, beyond())
}

// Unlock releases the kernel's lock and leaves the file open.
func Unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, beyond())
}

// remove empties the file of a held lock: Windows cannot remove an open file, and a file without
// an owner counts as free.
func remove(f *os.File) error { return f.Truncate(0) }

// removeClosed removes the file after its release. Windows refuses it if another process has opened the file since,
// which then has the lock.
func removeClosed(path string) { _ = os.Remove(path) }
