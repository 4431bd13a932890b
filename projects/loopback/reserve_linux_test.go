package loopback

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mara/projects/loopback/loopbacktest"
)

// provider starts such a server.
func provider(t *testing.T) int {
	t.Helper()
	port, err := strconv.Atoi(strings.TrimSpace(startServer(t, exec.Command(os.Args[0], servesAll))))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// startServer starts a server that ends with the test, and returns the line with which it says where it listens.
func startServer(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); _ = command.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// isLetIn reports whether a user can still connect.
func isLetIn(t *testing.T, user, port int) bool {
	t.Helper()
	isLetIn, err := loopbacktest.IsLetIn(user, port)
	if err != nil {
		t.Fatal(err)
	}
	return isLetIn
}

func canReserve(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	if !Tells() {
		t.Skip("this system does not tell whose a connection is")
	}
}

// TestReserve: a server that this process has started serves nobody else after this process has connected.
func TestReserve(t *testing.T) {
	t.Parallel()
	canReserve(t)
	port := provider(t)
	if !isLetIn(t, loopbacktest.Nobody, port) {
		t.Fatal("the server refuses others by itself")
	}
	for range 2 { // a client that connects again is let in again
		if err := ask(t, port, dial); err != nil {
			t.Fatal(err)
		}
		for _, user := range []int{0, loopbacktest.Nobody} {
			if isLetIn(t, user, port) {
				t.Errorf("another process of user %d is let in", user)
			}
		}
	}
	var clients sync.WaitGroup
	for range 10 {
		clients.Go(func() {
			if err := ask(t, port, dial); err != nil {
				t.Error(err)
			}
		})
	}
	clients.Wait()
}

// TestReserveCutsOff: whoever has connected before is cut off.
func TestReserveCutsOff(t *testing.T) {
	t.Parallel()
	canReserve(t)
	port := provider(t)
	early, err := loopbacktest.Connect(loopbacktest.Nobody, unix.AF_INET, port)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	own, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if err := ask(t, port, dial); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		conn net.Conn
		want error
	}{{"another user's", early, io.EOF}, {"this user's", own, os.ErrDeadlineExceeded}} {
		_ = c.conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		if _, err := io.Copy(io.Discard, errorOf{c.conn, c.want}); err != nil {
			t.Errorf("the connection of %s: %v, want %v", c.name, err, c.want)
		}
	}
}

// errorOf takes one error for the end.
type errorOf struct {
	io.Reader
	end error
}

func (e errorOf) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, e.end):
		return n, io.EOF
	case errors.Is(err, io.EOF):
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// TestReserveOnlyChildren: the port of another process, and of this one, stays open for whoever may connect there.
func TestReserveOnlyChildren(t *testing.T) {
	t.Parallel()
	canReserve(t)
	port := serve(t)
	if err := ask(t, port, dial); err != nil {
		t.Fatal(err)
	}
	if !isLetIn(t, 0, port) {
		t.Error("a port of this process is reserved")
	}
	if found, err := find(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 1)); found != nil || err != nil {
		t.Errorf("at a port where nobody listens: %v, %v", found, err)
	}
}

// TestStolenPort: nothing is said to a server of another user.
func TestStolenPort(t *testing.T) {
	t.Parallel()
	canReserve(t)
	listener, err := loopbacktest.Listen(loopbacktest.Nobody)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if conn, err := dial(ctx, listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "belongs to") {
		t.Errorf("got %v, %v", conn, err)
	}
}
