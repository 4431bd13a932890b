// Package loopback keeps other users of a machine away from the ports of Pulumi: the engine, its plugins and the programs
// talk to one another through ports of 127.0.0.1, and ask nobody who they are. Whoever can connect could read the outputs
// of stacks, use the credentials of a provider, and have a language host run a program.
//
// Linux tells who owns the other end of a connection within the machine. A process that has called Guard serves its own
// user alone. Other systems do not tell, and serve everybody, as plain Pulumi does.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"strconv"
	"sync"
	_ "unsafe" // for go:linkname

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// Pulumi makes its servers by itself, in a dozen places, and takes no options for them. gRPC has options for all servers
// of a process, for its own packages. A version of gRPC without them does not link.

//go:linkname globalServerOptions google.golang.org/grpc.globalServerOptions
var globalServerOptions []grpc.ServerOption

// Guard has all gRPC servers that this process makes from now on refuse connections of other users. The main function of
// each of our programs calls it before it does anything else.
func Guard() {
	globalServerOptions = append(globalServerOptions, grpc.Creds(guarded{insecure.NewCredentials()}))
}

// guarded are credentials that ask the kernel for the other end of a connection.
type guarded struct {
	credentials.TransportCredentials
}

// Clone implements credentials.TransportCredentials.
func (g guarded) Clone() credentials.TransportCredentials {
	return guarded{g.TransportCredentials.Clone()}
}

// ServerHandshake implements credentials.TransportCredentials. Nothing has been read from the connection before.
func (g guarded) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if err := Check(conn); err != nil {
		if !errors.Is(err, errGone) {
			complain(err)
		}
		return nil, nil, err
	}
	if err := closeRelay(conn); err != nil {
		complain(err)
		return nil, nil, err
	}
	return g.TransportCredentials.ServerHandshake(conn)
}

// complain prints the first refusal of a process: whoever is refused is not told why.
func complain(err error) { complaint.Do(func() { fmt.Fprintln(os.Stderr, "warning:", err) }) }

var complaint sync.Once

// Check returns an error if the other end of a connection is not of this user, or has been closed already. Where
// the system does not tell whose it is, it returns nil.
func Check(conn net.Conn) error {
	if _, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || !Tells() {
		return nil
	}
	other, err := told().otherEnd(conn)
	switch {
	case err != nil:
		return fmt.Errorf("the connection from %s to %s is refused: %w", conn.RemoteAddr(), conn.LocalAddr(), err)
	case other.owner != os.Geteuid():
		return fmt.Errorf("the connection from %s to %s is refused: it belongs to %s", conn.RemoteAddr(), conn.LocalAddr(), name(other.owner))
	}
	return nil
}

func name(id int) string {
	text := strconv.Itoa(id)
	if known, err := user.LookupId(text); err == nil {
		return "the user " + known.Username
	}
	return "user " + text
}

// Tells reports whether this system tells who owns a connection within the machine.
func Tells() bool { return told() != nil }

// told returns what tells of sockets, nil if nothing does. It tries with a connection of its own: in a container, the
// kernel may answer in one way and not in the other.
var told = sync.OnceValue(func() *source {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil
	}
	defer listener.Close()
	client, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", listener.Addr().String())
	if err != nil {
		return nil
	}
	defer client.Close()
	server, err := listener.Accept()
	if err != nil {
		return nil
	}
	defer server.Close()
	for _, from := range []source{fromKernel, fromTables} {
		if from.tellsOf(server) {
			return &from
		}
	}
	return nil
})

var errGone = errors.New("its other end has been closed")
