package child

import (
	"errors"

	"golang.org/x/sys/unix"
)

// limitMemory bounds the memory that a process can write to.
func limitMemory(pid int, bytes int64) error {
	limit := unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)}
	err := unix.Prlimit(pid, unix.RLIMIT_DATA, &limit, nil)
	if errors.Is(err, unix.ESRCH) {
		return nil // it has ended
	}
	return err
}
