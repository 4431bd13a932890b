package disk

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// SpaceOf asks for the space on the disk of a path.
func SpaceOf(path string) (Space, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Space{}, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return Space{}, err
	}
	return Space{Disk: filepath.VolumeName(path), Free: free}, nil
}
