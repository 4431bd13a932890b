package loopback

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"
)

// source is a way to ask for sockets. What it returns may have others as well.
type source struct {
	// between asks for the socket with two ends, or, if the other one is zero, for the one that listens at the first.
	between func(here, there netip.AddrPort) ([]socket, error)
	// connected asks for all sockets that are connected to a port, or try to be.
	connected func(port uint16) ([]socket, error)
}

var fromTables = source{
	between:   func(netip.AddrPort, netip.AddrPort) ([]socket, error) { return sockets() },
	connected: func(uint16) ([]socket, error) { return sockets() },
}

// tables are the kernel's lists of TCP sockets in this network namespace. A socket for IPv6 can talk IPv4.
func tables() []string { return []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} }

// socket is one of TCP on this machine.
type socket struct {
	here, there netip.AddrPort
	state       string
	owner       int    // the ID of a user
	inode       uint64 // 0 before a server accepts a connection
}

// States of sockets. The tables say of one that its process has closed that root owns it.
const established, listening = "01", "0A"

// sockets lists all sockets.
func sockets() ([]socket, error) {
	var all []socket
	for i, table := range tables() {
		content, err := os.ReadFile(table)
		if err != nil && i == 0 {
			return nil, err // without IPv6 there is no table for it
		}
		all = append(all, parse(content)...)
	}
	return all, nil
}

// parse reads a table. Lines that it does not understand are no sockets.
func parse(table []byte) []socket {
	var all []socket
	for line := range bytes.Lines(table) {
		// sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
		fields := bytes.Fields(line)
		if len(fields) < 10 {
			continue
		}
		here, isHere := address(string(fields[1]))
		there, isThere := address(string(fields[2]))
		owner, err := strconv.Atoi(string(fields[7]))
		inode, noInode := strconv.ParseUint(string(fields[9]), 10, 64)
		if isHere && isThere && err == nil && noInode == nil {
			all = append(all, socket{here, there, string(fields[3]), owner, inode})
		}
	}
	return all
}

// address reads an address as a table has it: words of 32 bits in the order of this machine, and the port.
func address(text string) (netip.AddrPort, bool) {
	words, port, _ := bytes.Cut([]byte(text), []byte(":"))
	ip, err := hex.DecodeString(string(words))
	number, noNumber := strconv.ParseUint(string(port), 16, 16)
	if err != nil || noNumber != nil || len(ip)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := ip; len(word) > 0; word = word[4:] {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	found, ok := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(found.Unmap(), uint16(number)), ok
}

// looks is how often the tables are read before a socket counts as gone: while one is read, sockets that come and go can
// hide another.
const looks, pause = 5, 2 * time.Millisecond

// tellsOf reports whether it is known that the other end of a connection of this process is of this user.
func (f *source) tellsOf(conn net.Conn) bool {
	other, err := f.otherEnd(conn)
	return err == nil && other.owner == os.Geteuid()
}

// otherEnd returns the other end of a connection, which is on this machine.
func (f *source) otherEnd(conn net.Conn) (socket, error) {
	there, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return socket{}, err
	}
	here, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return socket{}, err
	}
	for look := range looks {
		if look > 0 {
			time.Sleep(pause)
		}
		all, err := f.between(there, here)
		if err != nil {
			return socket{}, fmt.Errorf("asking whose it is: %w", err)
		}
		for _, s := range all {
			if s.here == there && s.there == here && s.state == established {
				return s, nil
			}
		}
	}
	return socket{}, errGone
}
