package loopback

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthgrpc "google.golang.org/grpc/health/grpc_health_v1"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == servesAll {
		serveAll()
	}
	if len(os.Args) == 3 && os.Args[1] == passesOn {
		passOn(os.Args[2])
	}
	Plain()
	Guard()
	os.Exit(m.Run())
}

// servesAll is the argument with which this program is a server that takes whoever connects, as a provider does.
const servesAll = "serves-all"

func serveAll() {
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(handle.Port)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// passesOn is the argument with which this program is a server that passes on to an address what is asked at a second port,
// as Pulumi's language host for Node.js does.
const passesOn = "passes-on"

func passOn(address string) {
	own, passing := listen(), listen()
	engine, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	go func() { _ = healthServer(func(context.Context) error { return nil }).Serve(own) }()
	go func() {
		_ = healthServer(func(ctx context.Context) error {
			_, err := healthgrpc.NewHealthClient(engine).Check(ctx, &healthgrpc.HealthCheckRequest{})
			return err
		}).Serve(passing)
	}()
	fmt.Println(own.Addr().(*net.TCPAddr).Port, passing.Addr().(*net.TCPAddr).Port)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return listener
}

// healthServer answers calls with what a function returns.
func healthServer(check func(context.Context) error) *grpc.Server {
	server := grpc.NewServer()
	healthgrpc.RegisterHealthServer(server, health{check: check})
	return server
}

type health struct {
	healthgrpc.UnimplementedHealthServer
	check func(context.Context) error
}

func (h health) Check(ctx context.Context, _ *healthgrpc.HealthCheckRequest) (*healthgrpc.HealthCheckResponse, error) {
	return &healthgrpc.HealthCheckResponse{}, h.check(ctx)
}

// serve starts a server as Pulumi starts its own.
func serve(t *testing.T) int {
	t.Helper()
	stop := make(chan bool)
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{Cancel: stop})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(stop); <-handle.Done })
	return handle.Port
}

// ask calls a server through a dialer.
func ask(t *testing.T, port int, dial func(context.Context, string) (net.Conn, error)) error {
	t.Helper()
	conn, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", port), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(dial))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = healthgrpc.NewHealthClient(conn).Check(ctx, &healthgrpc.HealthCheckRequest{})
	return err
}

func TestOwnUser(t *testing.T) {
	t.Parallel()
	if err := ask(t, serve(t), func(ctx context.Context, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}); err != nil {
		t.Error(err)
	}
}

// TestTable: what is taken from the kernel's lists, byte by byte.
func TestTable(t *testing.T) {
	t.Parallel()
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the lists below are of a machine with the small end first")
	}
	const lines = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1653 1 0000 100 0 0 10 0
   1: 0100007F:D431 0100007F:A8CB 01 00000000:00000000 00:00000000 00000000  1001        0 17 1 0000 20 4 0 10 -1
  12: 0100007F:D432 0100007F:A8CB 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0000
   0: 0000000000000000FFFF00000100007F:0051 B80D01200000000067452301EFCDAB89:01BB 08 00000000:00000000 00:00000000 00000000  7  0 9 1
   1: 7F:D433 0100007F:A8CB 01 00000000:00000000 00:00000000 00000000     0        0 0 3 0000
   1: 0100007F 0100007F:A8CB 01 00000000:00000000 00:00000000 00000000     0        0 0 3 0000
   1: 0100007F:D431 0100007F:A8CB 01 00000000:00000000 00:00000000 00000000     x        0 0 3 0000
   1: 0100007F:D431 0100007F:A8CB 01
`
	want := []socket{
		{netip.MustParseAddrPort("127.0.0.1:80"), netip.MustParseAddrPort("0.0.0.0:0"), listening, 0, 1653},
		{netip.MustParseAddrPort("127.0.0.1:54321"), netip.MustParseAddrPort("127.0.0.1:43211"), established, 1001, 17},
		{netip.MustParseAddrPort("127.0.0.1:54322"), netip.MustParseAddrPort("127.0.0.1:43211"), "06", 0, 0},
		{netip.MustParseAddrPort("127.0.0.1:81"), netip.MustParseAddrPort("[2001:db8::123:4567:89ab:cdef]:443"), "08", 7, 9},
	}
	if got := parse([]byte(lines)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
