package loopback

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/sys/unix"

	"mara/projects/loopback/loopbacktest"
)

// relay starts a program that passes calls on to an engine in this process, connects to it, and returns its second port. The
// engine counts what it is asked.
func relay(t *testing.T, program string) (port int, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	engine, listener := healthServer(func(context.Context) error { asked.Add(1); return nil }), listen()
	go func() { _ = engine.Serve(listener) }()
	t.Cleanup(engine.Stop)
	path := filepath.Join(t.TempDir(), program)
	content, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o700); err != nil {
		t.Fatal(err)
	}
	line := startServer(t, exec.Command(path, passesOn, listener.Addr().String()))
	var own int
	if _, err := fmt.Sscan(line, &own, &port); err != nil {
		t.Fatal(line, err)
	}
	if err := ask(t, own, dial); err != nil {
		t.Fatal(err)
	}
	return port, asked
}

func asNobody(port int) func(context.Context, string) (net.Conn, error) {
	return func(context.Context, string) (net.Conn, error) {
		return loopbacktest.Connect(loopbacktest.Nobody, unix.AF_INET, port)
	}
}

func asSelf(ctx context.Context, address string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

// TestRelay: another user who comes first, or has connected and waits, gets no answer of the engine through a language host.
func TestRelay(t *testing.T) {
	t.Parallel()
	canReserve(t)
	port, asked := relay(t, "pulumi-language-test")
	waiting, err := loopbacktest.Connect(loopbacktest.Nobody, unix.AF_INET, port)
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	if _, err := waiting.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	if err := ask(t, port, asNobody(port)); err == nil {
		t.Error("another user who is the first to ask gets an answer")
	}
	_ = waiting.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.Copy(io.Discard, waiting); err != nil {
		t.Errorf("another user who waits is not cut off: %v", err)
	}
	if asked.Load() > 0 {
		t.Error("what another user asks reaches the engine")
	}
	for range 2 { // this user is let in again
		if err := ask(t, port, asSelf); err != nil {
			t.Fatal(err)
		}
		if isLetIn(t, loopbacktest.Nobody, port) {
			t.Error("another user is let in")
		}
	}
	if asked.Load() != 2 {
		t.Errorf("the engine was asked %d times, want 2", asked.Load())
	}
}

// TestRelayAtOnce: a program that is the first to ask waits for nothing.
func TestRelayAtOnce(t *testing.T) {
	t.Parallel()
	canReserve(t)
	port, _ := relay(t, "pulumi-language-test")
	begun := time.Now()
	if err := ask(t, port, asSelf); err != nil {
		t.Fatal(err)
	}
	t.Logf("took %s", time.Since(begun))
	if isLetIn(t, loopbacktest.Nobody, port) {
		t.Error("another user is let in")
	}
}

// TestRelayOnlyHosts: other programs may listen for whom they like.
func TestRelayOnlyHosts(t *testing.T) {
	t.Parallel()
	canReserve(t)
	port, _ := relay(t, "pulumi-resource-test")
	for range 2 {
		if err := ask(t, port, asNobody(port)); err != nil {
			t.Error(err)
		}
	}
}
