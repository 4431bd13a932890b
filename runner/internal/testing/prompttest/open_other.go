//go:build !linux

package prompttest

import (
	"errors"
	"os"
)

// open returns an error: this system is not supported.
func open() (person, side *os.File, err error) {
	return nil, nil, errors.ErrUnsupported
}
