//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// errTaken is the kernel's error for a lock that another process holds.
const errTaken = syscall.EWOULDBLOCK

func tryLock(f *os.File) error { return flock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

// Unlock releases the kernel's lock and leaves the file open.
func Unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

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

func removeClosed(string) {} // remove has removed it
