package cmd

import (
	"errors"

	"golang.org/x/sys/windows"
)

// readerIsGone reports whether nobody reads what was to be written.
func readerIsGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
