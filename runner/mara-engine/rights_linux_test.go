package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// withoutOverride starts a process to which the rights of files apply, also where the tests are run by root.
func withoutOverride(start func() error) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // it ends with this thread, whose rights are changed
		for _, c := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // without the right to do it there is nothing to drop
		}
		started <- start()
	}()
	return <-started
}
