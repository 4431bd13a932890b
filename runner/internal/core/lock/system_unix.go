//go:build unix

package lock

import (
	"errors"
	"syscall"
)

// isProcess reports whether the kernel knows a process.
func isProcess(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
