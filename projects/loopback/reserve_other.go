//go:build !linux

package loopback

import "net"

// Plain does nothing where no port is reserved.
func Plain() {}

// Reserve does nothing: only Linux can reserve a port of another process.
func Reserve() {}

func closeRelay(net.Conn) error { return nil }
