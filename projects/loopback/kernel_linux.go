package loopback

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// The tables are slow: for each of them the kernel walks over all places that a socket could have, hundreds of thousands
// on a machine with much memory. A process asks some twenty times for each project. The kernel finds one socket at once
// when it is asked for it by netlink (sock_diag(7)), and can choose by port while it walks.
var fromKernel = source{
	between: func(here, there netip.AddrPort) ([]socket, error) {
		family := familyOf(here.Addr())
		found, err := askKernel(family, 0, ^uint32(0), here, there)
		if errors.Is(err, unix.ENOENT) {
			return nil, nil
		}
		return found, err
	},
	connected: func(port uint16) (all []socket, err error) {
		for _, any := range []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()} {
			family := familyOf(any)
			found, err := askKernel(family, unix.NLM_F_DUMP, 1<<unix.BPF_TCP_ESTABLISHED|1<<unix.BPF_TCP_SYN_SENT, netip.AddrPortFrom(any, 0),
				netip.AddrPortFrom(any, port))
			if err != nil && !(family == unix.AF_INET6 && errors.Is(err, unix.ENOENT)) { // a kernel without IPv6
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	},
}

func familyOf(address netip.Addr) uint8 {
	if address.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// Sizes of what is sent and received (linux/netlink.h and linux/inet_diag.h).
const headerSize, requestSize, answerSize = unix.SizeofNlMsghdr, 56, 72

// askKernel asks for the sockets of a family in some states that have two ends. With NLM_F_DUMP, an address does not
// matter, nor a port that is 0; without, the kernel looks up one socket.
func askKernel(family uint8, flags uint16, states uint32, here, there netip.AddrPort) ([]socket, error) {
	kernel, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("asking the kernel for sockets: %w", err)
	}
	defer unix.Close(kernel)
	native := binary.NativeEndian
	request := native.AppendUint32(nil, headerSize+requestSize)
	request = native.AppendUint16(request, unix.SOCK_DIAG_BY_FAMILY)
	request = native.AppendUint16(request, unix.NLM_F_REQUEST|flags)
	request = native.AppendUint32(request, 1) // its number
	request = native.AppendUint32(request, 0) // to the kernel
	request = append(request, family, unix.IPPROTO_TCP, 0, 0)
	request = native.AppendUint32(request, states)
	request = appendEnds(request, here, there)
	request = native.AppendUint32(request, 0) // of any interface
	request = append(request, slices.Repeat([]byte{0xff}, 8)...)
	if err := unix.Sendto(kernel, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, fmt.Errorf("asking the kernel for sockets: %w", err)
	}
	var all []socket
	buffer := make([]byte, 1<<15) // the most that the kernel sends at once
	for {
		n, _, err := unix.Recvfrom(kernel, buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("asking the kernel for sockets: %w", err)
		}
		found, done, err := parseAnswers(buffer[:n])
		if err != nil {
			return nil, fmt.Errorf("asking the kernel for sockets: %w", err)
		}
		if all = append(all, found...); done || flags == 0 {
			return all, nil
		}
	}
}

// appendEnds appends the two ends of a socket as the kernel has them.
func appendEnds(to []byte, here, there netip.AddrPort) []byte {
	to = binary.BigEndian.AppendUint16(to, here.Port())
	to = binary.BigEndian.AppendUint16(to, there.Port())
	for _, end := range []netip.AddrPort{here, there} {
		at := len(to)
		to = append(to, end.Addr().AsSlice()...)
		to = append(to, make([]byte, at+16-len(to))...)
	}
	return to
}

// parseAnswers reads a packet of the kernel's; done is set at the end of a list.
func parseAnswers(packet []byte) (all []socket, done bool, err error) {
	native := binary.NativeEndian
	for len(packet) >= headerSize {
		size := int(native.Uint32(packet))
		if size < headerSize || size > len(packet) {
			break
		}
		kind, body := native.Uint16(packet[4:]), packet[headerSize:size]
		packet = packet[min((size+unix.NLMSG_ALIGNTO-1)&^(unix.NLMSG_ALIGNTO-1), len(packet)):]
		switch {
		case kind == unix.NLMSG_DONE:
			return all, true, nil
		case kind == unix.NLMSG_ERROR && len(body) >= 4:
			return nil, false, unix.Errno(-int32(native.Uint32(body)))
		case kind == unix.SOCK_DIAG_BY_FAMILY && len(body) >= answerSize:
			all = append(all, parseAnswer(body))
			continue
		}
		return nil, false, fmt.Errorf("an answer of kind %d and %d bytes is not known", kind, size)
	}
	if len(packet) > 0 {
		return nil, false, fmt.Errorf("%d bytes at the end of an answer are not known", len(packet))
	}
	return all, false, nil
}

func parseAnswer(body []byte) socket {
	size := 16
	if body[0] == unix.AF_INET {
		size = 4
	}
	end := func(port, address int) netip.AddrPort {
		ip, _ := netip.AddrFromSlice(body[address : address+size]) // of the size of an address
		return netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(body[port:]))
	}
	return socket{end(4, 8), end(6, 24), fmt.Sprintf("%02X", body[1]), int(binary.NativeEndian.Uint32(body[64:])),
		uint64(binary.NativeEndian.Uint32(body[68:]))}
}
