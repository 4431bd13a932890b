package loopback

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Pulumi's language host for Node.js passes what its program asks on to the engine, through a port of its own that takes
// whoever connects. It connects to the engine at the first thing that somebody asks there, and this process answers that
// connection only when the port is closed to other users and they are cut off: so nobody else gets an answer. From then
// on the port lets in connections that this user's programs have or try to make: the kernel repeats a try after a second.

// hosts is how the programs begin whose further ports are closed. Other plugins may listen for purposes of their own.
const hosts = "pulumi-language-"

// relays are language hosts to which this process has connected.
var relays relayList

type relayList struct {
	mu    sync.Mutex       // guards the field below
	ports map[int][]uint64 // by process: the listening sockets that are closed to others
}

// know adds a server to which this process connects, if it is a language host.
func (r *relayList) know(id int, listener uint64) {
	if strings.HasPrefix(program(id), hosts) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.ports == nil {
			r.ports = map[int][]uint64{}
		}
		r.ports[id] = append(r.ports[id], listener)
	}
}

// find returns the language host that has a socket, or 0.
func (r *relayList) find(inode uint64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.ports {
		if !strings.HasPrefix(program(id), hosts) {
			delete(r.ports, id) // it has ended
		} else if _, ok := descriptor(id, inode); ok {
			return id
		}
	}
	return 0
}

func (r *relayList) areNone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ports) == 0
}

// isClosed reports whether a listening socket is closed to others already.
func (r *relayList) isClosed(id int, listener uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.ports[id], listener)
}

// closing is held while ports are closed: a second connection of a host waits for that too.
var closing sync.Mutex

// closeRelay closes all ports of a language host to other users when it connects to this process.
func closeRelay(conn net.Conn) error {
	if _, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || relays.areNone() {
		return nil
	}
	other, err := told().otherEnd(conn)
	if err != nil {
		return err
	}
	id := relays.find(other.inode)
	if id == 0 {
		return nil
	}
	closing.Lock()
	defer closing.Unlock()
	for number, inode := range socketsOf(id) {
		if relays.isClosed(id, inode) {
			continue
		}
		if s, ok := listener(id, number, inode); ok {
			err := s.closeToOthers()
			s.close()
			if err != nil {
				return err
			}
			relays.know(id, inode)
		}
	}
	return nil
}

// listener returns a socket of a process as a server if it listens at a loopback address, and this process may reach it.
func listener(id, number int, inode uint64) (*server, bool) {
	handle, err := unix.PidfdOpen(id, 0)
	if err != nil {
		return nil, false
	}
	taken, err := take(handle, number, inode)
	if err != nil {
		_ = unix.Close(handle)
		return nil, false
	}
	s := &server{id: id, handle: handle, listener: taken, inode: inode}
	if listens, err := unix.GetsockoptInt(taken, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err == nil && listens != 0 {
		address, _ := unix.Getsockname(taken)
		if here, ok := address.(*unix.SockaddrInet4); ok && here.Addr[0] == home[0] {
			s.port = uint16(here.Port)
			return s, true
		}
	}
	s.close()
	return nil, false
}

// settleTime is how long a server may take to forget what somebody has asked whose connection it has closed.
const settleTime = 50 * time.Millisecond

// closeToOthers has a server let in this user alone for as long as it listens.
func (s *server) closeToOthers() error {
	admitted, err := s.letInOwn(nil)
	if err != nil {
		return err
	}
	go lookAfter(s.id, s.inode, s.port, admitted)
	for range 2 { // what the first look has missed
		cut, err := s.cutOff()
		if err != nil {
			return err
		}
		if err := s.waitFor(cut); err != nil {
			return err
		}
	}
	return nil
}

// waitFor waits until a server has closed sockets.
func (s *server) waitFor(cut []uint64) error {
	if len(cut) == 0 {
		return nil
	}
	isOpen := func(inode uint64) bool { _, ok := descriptor(s.id, inode); return ok }
	for end := time.Now().Add(acceptTime); slices.ContainsFunc(cut, isOpen); time.Sleep(pause) {
		if time.Now().After(end) {
			return fmt.Errorf("%s (process %d) keeps connections of other users at port %d", program(s.id), s.id, s.port)
		}
	}
	time.Sleep(settleTime)
	return nil
}

// lookTime is how often it is looked for programs that try to connect. It is less than the second after which they try again.
const lookTime = 400 * time.Millisecond

// lookAfter lets programs of this user in at a port that is closed to others, until nobody listens there.
func lookAfter(id int, inode uint64, port uint16, admitted []uint16) {
	for {
		time.Sleep(lookTime)
		s, err := open(id, inode, port)
		if s == nil || err != nil {
			return
		}
		// The socket is given back at once: as long as this process holds it, the port stays open.
		if now, err := s.letInOwn(admitted); err == nil {
			admitted = now
		}
		s.close()
	}
}

// Of a socket that tries to connect.
const connecting = "02"

// letInOwn lets in the connections of this user, if they are not those that are let in already, and returns their ports.
func (s *server) letInOwn(already []uint16) ([]uint16, error) {
	reserving.Lock()
	defer reserving.Unlock()
	all, err := told().connected(s.port)
	if err != nil {
		return nil, err
	}
	own := []uint16{}
	for _, one := range all {
		if one.there.Port() == s.port && one.there.Addr().IsLoopback() && one.owner == os.Geteuid() && one.inode != 0 &&
			(one.state == established || one.state == connecting) {
			own = append(own, one.here.Port())
		}
	}
	slices.Sort(own)
	if already != nil && slices.Equal(own, already) {
		return own, nil
	}
	return own, s.letIn(own)
}
