//go:build unix

package cmd

import (
	"errors"
	"syscall"
)

// readerIsGone reports whether a write failed because its reader has closed.
func readerIsGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
