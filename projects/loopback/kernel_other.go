//go:build !linux

package loopback

import (
	"errors"
	"net/netip"
)

// fromKernel cannot be asked.
var fromKernel = source{
	between:   func(netip.AddrPort, netip.AddrPort) ([]socket, error) { return nil, errors.ErrUnsupported },
	connected: func(uint16) ([]socket, error) { return nil, errors.ErrUnsupported },
}
