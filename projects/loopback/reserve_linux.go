package loopback

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	_ "unsafe" // for go:linkname

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
)

//go:linkname globalDialOptions google.golang.org/grpc.globalDialOptions
var globalDialOptions []grpc.DialOption

// plain has programs in Go listen with plain TCP: a port of multipath TCP, which is their custom, cannot be reserved.
const plain = "multipathtcp=0"

// Plain has the processes that this one starts from now on listen so that their ports can be reserved.
func Plain() {
	_ = os.Setenv("GODEBUG", strings.TrimPrefix(os.Getenv("GODEBUG")+","+plain, ","))
}

// Reserve has all gRPC clients that this process makes from now on take what they connect to for themselves, if it is a
// process that this one has started: a provider or a language host of others takes whoever connects. From then on its
// port lets in this process alone, and a connection that another user has made before is cut off. Where the system does
// not let a process do that to its children, their ports stay open.
func Reserve() {
	globalDialOptions = append(globalDialOptions, grpc.WithContextDialer(dial))
}

// reserving is held while a connection is made: the port lets in one at a time.
var reserving sync.Mutex

func dial(ctx context.Context, address string) (net.Conn, error) {
	if path, ok := strings.CutPrefix(address, "unix://"); ok {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil || !to.Addr().Is4() || !to.Addr().IsLoopback() || !Tells() {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	s, err := find(to)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	defer s.close()
	relays.know(s.id, s.inode)
	conn, err := s.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	if _, err := s.cutOff(); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// server is a process that this one has started, and that listens.
type server struct {
	id       int
	handle   int // of the process
	listener int // its listening socket, which is ours as well while this is open
	inode    uint64
	port     uint16
}

// find returns the server at an address, or nil if this process has not started it or may not reach into it. That the
// port is another user's is an error: nothing is to be said to him.
func find(to netip.AddrPort) (*server, error) {
	all, err := told().between(to, netip.AddrPortFrom(netip.IPv4Unspecified(), 0))
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.state != listening || s.here.Port() != to.Port() || s.here.Addr() != to.Addr() && !s.here.Addr().IsUnspecified() {
			continue
		}
		if s.owner != os.Geteuid() {
			return nil, fmt.Errorf("%s is not connected to: it belongs to %s", to, name(s.owner))
		}
		for _, id := range descendants(os.Getpid()) {
			found, err := open(id, s.inode, to.Port())
			if found != nil || err != nil {
				return found, nil //nolint:nilerr // what this process may not do, it leaves
			}
		}
	}
	return nil, nil
}

// open returns the server that a process is, if it has a socket.
func open(id int, inode uint64, port uint16) (*server, error) {
	number, ok := descriptor(id, inode)
	if !ok {
		return nil, nil
	}
	handle, err := unix.PidfdOpen(id, 0)
	if err != nil {
		return nil, err
	}
	listener, err := take(handle, number, inode)
	if err != nil {
		_ = unix.Close(handle)
		return nil, err
	}
	return &server{id, handle, listener, inode, port}, nil
}

func (s *server) close() {
	_ = unix.Close(s.listener)
	_ = unix.Close(s.handle)
}

// descriptor returns the number by which a process knows a socket.
func descriptor(id int, inode uint64) (int, bool) {
	for number, socket := range socketsOf(id) {
		if socket == inode {
			return number, true
		}
	}
	return 0, false
}

// socketsOf yields the sockets of a process, by their numbers.
func socketsOf(id int) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		directory := fmt.Sprintf("/proc/%d/fd", id)
		entries, _ := os.ReadDir(directory)
		for _, entry := range entries {
			to, _ := os.Readlink(filepath.Join(directory, entry.Name()))
			inside, ok := strings.CutPrefix(to, "socket:[")
			if !ok {
				continue
			}
			inode, err := strconv.ParseUint(strings.TrimSuffix(inside, "]"), 10, 64)
			number, noNumber := strconv.Atoi(entry.Name())
			if err == nil && noNumber == nil && !yield(number, inode) {
				return
			}
		}
	}
}

// take returns a socket of another process.
func take(handle, number int, inode uint64) (int, error) {
	taken, err := unix.PidfdGetfd(handle, number, 0)
	if err != nil {
		return 0, err
	}
	var is unix.Stat_t
	if err := unix.Fstat(taken, &is); err != nil || is.Ino != inode {
		_ = unix.Close(taken)
		return 0, errors.New("the process has closed it meanwhile")
	}
	return taken, nil
}

// connect connects while the server lets in nobody else.
func (s *server) connect(ctx context.Context, address string) (net.Conn, error) {
	reserving.Lock()
	defer reserving.Unlock()
	return (&net.Dialer{Control: s.admit}).DialContext(ctx, "tcp4", address)
}

var home = [4]byte{127, 0, 0, 1}

// admit chooses the port of a connection that is about to be made, and lets in that one alone.
func (s *server) admit(_, _ string, raw syscall.RawConn) (err error) {
	failed := raw.Control(func(fd uintptr) {
		if err = unix.Bind(int(fd), &unix.SockaddrInet4{Addr: home}); err != nil {
			return
		}
		var own unix.Sockaddr
		if own, err = unix.Getsockname(int(fd)); err == nil {
			err = s.letIn([]uint16{uint16(own.(*unix.SockaddrInet4).Port)})
		}
	})
	return errors.Join(failed, err)
}

// letIn has the server let in connections from some ports of 127.0.0.1 alone.
func (s *server) letIn(ports []uint16) error {
	return unix.SetsockoptSockFprog(s.listener, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, only(ports))
}

// most is how many ports a filter can name: it jumps by a byte.
const most = 200

// only returns a filter for packets of IPv4 and TCP: those from some ports of 127.0.0.1.
func only(ports []uint16) *unix.SockFprog {
	ports = ports[:min(len(ports), most)]
	const whole = 0xffffffff
	const network, source = 0xfff00000, 12 // where the header of IPv4 begins for a filter, and the sender in it
	refuse := uint8(len(ports) + 1)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: network + source},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: binary.BigEndian.Uint32(home[:]), Jf: refuse},
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: 0}, // the header of TCP begins with the sender's port
	}
	for i, port := range ports {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(port), Jt: refuse - uint8(i+1)})
	}
	filter = append(filter,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: whole})
	return &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
}

// acceptTime is how long a server may take to accept a connection, which only then can be cut off.
const acceptTime = 2 * time.Second

// cutOff ends the connections that other users have made before the port was reserved, and returns the sockets that the
// server had for them.
func (s *server) cutOff() (cut []uint64, err error) {
	for end := time.Now().Add(acceptTime); ; time.Sleep(pause) {
		all, err := told().connected(s.port)
		if err != nil {
			return nil, err
		}
		others := map[netip.AddrPort]int{}
		for _, other := range all {
			if other.there.Port() == s.port && other.there.Addr().IsLoopback() && other.state == established && other.owner != os.Geteuid() {
				others[other.here] = other.owner
			}
		}
		if len(others) == 0 {
			return cut, nil
		}
		if all, err = sockets(); err != nil {
			return nil, err
		}
		for _, here := range all {
			id, isOther := others[here.there]
			if !isOther || here.here.Port() != s.port || here.inode == 0 {
				continue
			}
			complain(fmt.Errorf("%s had connected to port %d of the process %d (%s): the connection was cut off", name(id), s.port, s.id,
				program(s.id)))
			if number, ok := descriptor(s.id, here.inode); ok {
				if taken, err := take(s.handle, number, here.inode); err == nil {
					_ = unix.Shutdown(taken, unix.SHUT_RDWR)
					_ = unix.Close(taken)
					cut = append(cut, here.inode)
				}
			}
		}
		if time.Now().After(end) {
			return cut, fmt.Errorf("other users are connected to port %d of the process %d (%s)", s.port, s.id, program(s.id))
		}
	}
}

func program(id int) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", id))
	if err != nil {
		return "unknown"
	}
	return filepath.Base(path)
}

// descendants returns the processes that a process has started, and those that they have.
func descendants(process int) []int {
	parents := map[int]int{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		status, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may have anything in it.
		if at := strings.LastIndexByte(string(status), ')'); at >= 0 {
			if fields := strings.Fields(string(status[at+1:])); len(fields) > 1 {
				parents[id], _ = strconv.Atoi(fields[1])
			}
		}
	}
	var found []int
	for id := range parents {
		for above := parents[id]; above > 0; above = parents[above] {
			if above == process {
				found = append(found, id)
				break
			}
		}
	}
	return found
}
