package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// errTaken is what the kernel says when another process has its lock.
const errTaken = windows.ERROR_LOCK_VIOLATION

// beyond returns a place in a file that no owner's name reaches. A lock keeps others
// from reading what it covers, and they have to read the name.
func beyond() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1} }

// tryLock gets the kernel's lock or says at once why not.
func tryLock(f *os.File) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, beyond())
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, beyond())
}

// remove empties the file of a lock that is held, which is as good: a file that
// is open cannot be removed, and one without an owner belongs to nobody.
func remove(f *os.File, _ string) error { return f.Truncate(0) }

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
