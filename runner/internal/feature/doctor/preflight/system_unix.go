//go:build unix

package preflight

import (
	"golang.org/x/sys/unix"
)

// Errors of listening on a port.
const (
	errNotAllowed = unix.EACCES
	errNotOurs    = unix.EADDRNOTAVAIL
	errInUse      = unix.EADDRINUSE
)

// writable returns an error if no files can be created in a directory.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
