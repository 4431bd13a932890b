// Package loopbacktest connects to ports of this machine as another of its users. Tests only.
package loopbacktest

import (
	"errors"
	"net"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Nobody is the ID of a user without rights.
const Nobody = 65534

// Connect connects to a port of 127.0.0.1 as a user, which only root can. The family is AF_INET or AF_INET6.
func Connect(user, family, port int) (net.Conn, error) {
	return open(user, family, net.FileConn, func(fd int) error { return connect(fd, address(family, port)) })
}

// connect connects, and goes on if a signal comes, as the Go runtime sends itself.
func connect(fd int, to unix.Sockaddr) error {
	err := unix.Connect(fd, to)
	for errors.Is(err, unix.EINTR) || errors.Is(err, unix.EALREADY) {
		if _, err := poll(fd, -1); err != nil {
			return err
		}
		err = unix.Connect(fd, to)
	}
	if errors.Is(err, unix.EISCONN) {
		return nil
	}
	return err
}

// poll waits until a socket is connected, and returns 0 if it is not in time.
func poll(fd, milliseconds int) (events int, err error) {
	for {
		events, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, milliseconds)
		if !errors.Is(err, unix.EINTR) {
			return events, err
		}
	}
}

// IsLetIn reports whether a user can connect: a port of this machine takes a connection at once, or not at all.
func IsLetIn(user, port int) (bool, error) { return IsLetInWithin(user, port, 200*time.Millisecond) }

// IsLetInWithin waits longer: whoever is not let in at once is let in a second later, or not at all.
func IsLetInWithin(user, port int, limit time.Duration) (isLetIn bool, err error) {
	conn, err := open(user, unix.AF_INET, net.FileConn, func(fd int) error {
		if err := unix.SetNonblock(fd, true); err != nil {
			return err
		}
		if err := unix.Connect(fd, address(unix.AF_INET, port)); err != nil && !errors.Is(err, unix.EINPROGRESS) {
			return err
		}
		events, err := poll(fd, int(limit.Milliseconds()))
		isLetIn = events > 0
		return err
	})
	if err == nil && conn != nil {
		conn.Close()
	}
	if errors.Is(err, unix.ENOTCONN) {
		return false, nil
	}
	return isLetIn, err
}

// Listen listens at a port of 127.0.0.1 as a user.
func Listen(user int) (net.Listener, error) {
	return open(user, unix.AF_INET, net.FileListener, func(fd int) error {
		if err := unix.Bind(fd, address(unix.AF_INET, 0)); err != nil {
			return err
		}
		return unix.Listen(fd, 1)
	})
}

// open prepares a socket that belongs to a user: on Linux a thread can be another user, and a socket belongs to whom its
// thread is.
func open[Socket any](user, family int, from func(*os.File) (Socket, error), prepare func(fd int) error) (opened Socket, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocks it: the thread ends with the goroutine
		if _, err = unix.SetfsuidRetUid(user); err != nil {
			return
		}
		var fd int
		if fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
			return
		}
		file := os.NewFile(uintptr(fd), "socket")
		defer file.Close()
		if err = prepare(fd); err == nil {
			opened, err = from(file)
		}
	}()
	<-done
	return opened, err
}

func address(family, port int) unix.Sockaddr {
	if family == unix.AF_INET6 {
		return &unix.SockaddrInet6{Port: port, Addr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}}
	}
	return &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
}
