package loopback

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mara/projects/loopback/loopbacktest"
)

func TestOtherUsers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	if !Tells() {
		t.Skip("this system does not tell whose a connection is")
	}
	port := serve(t)
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		for _, c := range []struct {
			id      int
			refused bool
		}{{0, false}, {loopbacktest.Nobody, true}, {1234, true}} {
			err := ask(t, port, func(context.Context, string) (net.Conn, error) { return loopbacktest.Connect(c.id, family, port) })
			if (err != nil) != c.refused {
				t.Errorf("socket of kind %d of user %d: %v", family, c.id, err)
			}
		}
	}
}

// TestClosedAtOnce: what somebody has sent before closing does not count, for the kernel says that it is root's.
func TestClosedAtOnce(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := loopbacktest.Connect(loopbacktest.Nobody, unix.AF_INET, listener.Addr().(*net.TCPAddr).Port)
	if err != nil {
		t.Fatal(err)
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := Check(server); err == nil || !strings.Contains(err.Error(), "belongs to") {
		t.Errorf("got %v", err)
	}
	if _, err := client.Write([]byte("PRI * HTTP/2.0")); err != nil {
		t.Fatal(err)
	}
	client.Close()
	if err := Check(server); err == nil || !strings.Contains(err.Error(), errGone.Error()) {
		t.Errorf("got %v", err)
	}
}
