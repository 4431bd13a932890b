//go:build !linux

package statefiles

import "errors"

// takeReserve takes up no room: not every system can without writing all of it.
func takeReserve(string, int64) (*reserve, error) { return nil, errors.ErrUnsupported }
