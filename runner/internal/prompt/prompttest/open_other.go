//go:build !linux

package prompttest

import (
	"errors"
	"os"
)

// open is not known for this system.
func open() (person, side *os.File, err error) {
	return nil, nil, errors.ErrUnsupported
}
