package access

import (
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
)

// Usual is the address that is listened on unless another is asked for: any free port of this machine.
const Usual = "127.0.0.1:0"

// ParseAddress reads an address to listen on. It takes addresses, not names: a name may lead anywhere.
func ParseAddress(text string) (netip.AddrPort, error) {
	address, err := netip.ParseAddrPort(text)
	if err != nil {
		return address, fmt.Errorf("%q is not an IP address with a port, such as 127.0.0.1:8080 or [::1]:8080", text)
	}
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port()), nil
}

// least is how long a token in a file has to be: it is meant to be random.
const least = 20

// ReadToken reads a token from a file that only its owner may read.
func ReadToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s may be read by others (mode %o): make it private with `chmod 600 %s`", path,
			info.Mode().Perm(), path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(content))
	if len(token) < least || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s: a token has at least %d characters without spaces, such as `openssl rand -hex 32` prints", path, least)
	}
	return token, nil
}
