//go:build unix

package disk

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// SpaceOf asks for the space on the disk of a path.
func SpaceOf(path string) (Space, error) {
	var info unix.Stat_t
	if err := unix.Stat(path, &info); err != nil {
		return Space{}, err
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(path, &disk); err != nil {
		return Space{}, err
	}
	return Space{
		Disk:    fmt.Sprint(info.Dev),
		Free:    uint64(disk.Bavail) * uint64(disk.Bsize),
		NoFiles: disk.Files > 0 && disk.Ffree == 0,
	}, nil
}
