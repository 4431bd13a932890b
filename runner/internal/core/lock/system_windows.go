package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// errTaken is the kernel's error for a lock that another process holds.
const errTaken = windows.ERROR_LOCK_VIOLATION

// beyond returns a position in a file after any owner's name. On Windows, other processes cannot
// read the locked part of a file, and they have to read the name.
func beyond() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1} }

// tryLock takes the kernel's lock, or returns an error without waiting.
func tryLock(f *os.File) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, beyond())
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, beyond())
}

// remove empties the file of a held lock: Windows cannot remove an open file, and a file without
// an owner counts as free.
func remove(f *os.File) error { return f.Truncate(0) }

// isProcess reports whether the kernel knows a process that has not ended.
func isProcess(pid int) bool {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(handle)
	event, err := windows.WaitForSingleObject(handle, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}
