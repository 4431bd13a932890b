//go:build unix

package cmd

import (
	"errors"
	"syscall"
)

// readerIsGone reports whether nobody reads what was to be written.
func readerIsGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
