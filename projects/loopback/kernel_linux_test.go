package loopback

import (
	"net"
	"net/netip"
	"slices"
	"testing"
)

// TestSources: the kernel says the same of a socket as its tables.
func TestSources(t *testing.T) {
	t.Parallel()
	if !Tells() {
		t.Skip("this system does not tell whose a connection is")
	}
	for _, test := range []struct{ network, listens, connects string }{
		{"tcp4", "127.0.0.1:0", "127.0.0.1"},
		{"tcp6", "[::1]:0", "::1"},
		{"tcp", ":0", "127.0.0.1"},
	} {
		listener, err := net.Listen(test.network, test.listens)
		if err != nil {
			t.Logf("%s: %v", test.network, err) // this machine has no IPv6
			continue
		}
		defer listener.Close()
		port := listener.Addr().(*net.TCPAddr).AddrPort().Port()
		to := netip.AddrPortFrom(netip.MustParseAddr(test.connects), port)
		client, err := net.Dial("tcp", to.String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		server, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		for name, from := range map[string]source{"kernel": fromKernel, "tables": fromTables} {
			if !from.tellsOf(server) {
				t.Errorf("the %s does not tell whose the connection to %s is", name, test.listens)
			}
		}
		here := client.LocalAddr().(*net.TCPAddr).AddrPort()
		for name, asked := range map[string]struct {
			here, there netip.AddrPort
			state       string
		}{
			"client":   {here, to, established},
			"listener": {to, netip.AddrPortFrom(netip.IPv4Unspecified(), 0), listening},
		} {
			if name == "listener" && !to.Addr().Is4() {
				continue // nobody asks for one
			}
			got, err := fromKernel.between(asked.here, asked.there)
			if err != nil {
				t.Fatal(err)
			}
			want, err := sockets()
			if err != nil {
				t.Fatal(err)
			}
			want = slices.DeleteFunc(want, func(s socket) bool {
				if s.state != asked.state || s.here.Port() != asked.here.Port() {
					return true
				}
				return name == "client" && (s.here != asked.here || s.there != asked.there)
			})
			if len(got) == 1 && got[0].state == listening {
				// A socket that listens at all addresses may be written in either kind.
				got[0].there, want[0].there = netip.AddrPort{}, netip.AddrPort{}
				if got[0].here.Addr().IsUnspecified() && want[0].here.Addr().IsUnspecified() {
					got[0].here = want[0].here
				}
			}
			if len(got) != 1 || !slices.Equal(got, want) {
				t.Errorf("%s at %s: the kernel says %v, and the tables %v", name, test.listens, got, want)
			}
		}
		found, err := fromKernel.connected(port)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(found, func(s socket) bool { return s.here == here && s.there == to }) {
			t.Errorf("the connection to %s is not one of %v", to, found)
		}
	}
	nobody := netip.MustParseAddrPort("127.0.0.1:1")
	if got, err := fromKernel.between(nobody, nobody); len(got) > 0 || err != nil {
		t.Errorf("of no socket the kernel says %v, %v", got, err)
	}
}

// TestStrangeAnswers: what is not understood is an error, and no socket.
func TestStrangeAnswers(t *testing.T) {
	t.Parallel()
	for name, packet := range map[string]string{
		"a kind":         "\x10\x00\x00\x00\x63\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"too short":      "\x14\x00\x00\x00\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"cut off":        "\x50\x00\x00\x00\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"no size":        "\x00\x00\x00\x00\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"part of a head": "\x14\x00",
		"an error":       "\x14\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff",
	} {
		if got, done, err := parseAnswers([]byte(packet)); len(got) > 0 || done || err == nil {
			t.Errorf("%s: %v, %t, %v", name, got, done, err)
		}
	}
}

// BenchmarkSources compares what one question costs.
func BenchmarkSources(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	to := listener.Addr().(*net.TCPAddr).AddrPort()
	for name, ask := range map[string]func() ([]socket, error){
		"tables": sockets,
		"one": func() ([]socket, error) {
			return fromKernel.between(to, netip.AddrPortFrom(netip.IPv4Unspecified(), 0))
		},
		"connected": func() ([]socket, error) { return fromKernel.connected(to.Port()) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
