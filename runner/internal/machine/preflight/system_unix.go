//go:build unix

package preflight

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Errors of listening on a port.
const (
	errNotAllowed = unix.EACCES
	errNotOurs    = unix.EADDRNOTAVAIL
	errInUse      = unix.EADDRINUSE
)

// spaceOf reads the space on the disk of a path.
func spaceOf(path string) (space, error) {
	var info unix.Stat_t
	if err := unix.Stat(path, &info); err != nil {
		return space{}, err
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(path, &disk); err != nil {
		return space{}, err
	}
	return space{
		disk:    fmt.Sprint(info.Dev),
		free:    uint64(disk.Bavail) * uint64(disk.Bsize),
		noFiles: disk.Files > 0 && disk.Ffree == 0,
	}, nil
}

// writable returns an error if no files can be created in a directory.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
