package cmd

import (
	"errors"

	"golang.org/x/sys/windows"
)

// readerIsGone reports whether a write failed because its reader has closed.
func readerIsGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
