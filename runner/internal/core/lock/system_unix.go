//go:build unix

package lock

import (
	"errors"
	"os"
	"syscall"
)

// errTaken is the kernel's error for a lock that another process holds.
const errTaken = syscall.EWOULDBLOCK

// tryLock takes the kernel's lock, or returns an error without waiting.
func tryLock(f *os.File) error { return flock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

func unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

// flock calls the kernel, and repeats the call if a signal interrupts it.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// remove removes the file of a held lock.
func remove(f *os.File) error { return os.Remove(f.Name()) }

// isProcess reports whether the kernel knows a process.
func isProcess(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
