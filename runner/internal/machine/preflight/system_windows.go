package preflight

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Errors of listening on a port.
const (
	errNotAllowed = windows.WSAEACCES
	errNotOurs    = windows.WSAEADDRNOTAVAIL
	errInUse      = windows.WSAEADDRINUSE
)

// spaceOf reads the space on the disk of a path.
func spaceOf(path string) (space, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return space{}, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return space{}, err
	}
	return space{disk: filepath.VolumeName(path), free: free}, nil
}

// writable returns nil: access control lists can only be tested by writing a file.
func writable(string) error { return nil }
