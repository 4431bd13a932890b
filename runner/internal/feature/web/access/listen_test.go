package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, loopback := range map[string]bool{Usual: true, "[::1]:0": true, "127.9.9.9:80": true, "[::ffff:127.0.0.1]:1": true, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:1": false} {
		if a, err := ParseAddress(text); err != nil || a.Addr().IsLoopback() != loopback {
			t.Errorf("%s: %s, %v", text, a, err)
		}
	}
	for _, text := range []string{"", "localhost:80", "127.0.0.1", ":80", "example.com:80", "127.0.0.1:http", "127.0.0.1:99999"} {
		if a, err := ParseAddress(text); err == nil {
			t.Errorf("%q is %s", text, a)
		}
	}
}

func TestTokenFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	long := strings.Repeat("x", least)
	for _, test := range []struct {
		content string
		mode    os.FileMode
		want    string // in the error
	}{{long + "\n", 0o600, ""}, {long, 0o644, "may be read by others"}, {"short", 0o600, "at least 20"}, {long + " y", 0o600, "without spaces"}, {"", 0o600, "at least"}} {
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, test.mode); err != nil {
			t.Fatal(err)
		}
		token, err := ReadToken(path)
		if (err == nil) != (test.want == "") || err == nil && token != long || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q %o: %q, %v", test.content, test.mode, token, err)
		}
		if err != nil && test.content != "" && strings.Contains(err.Error(), test.content) {
			t.Errorf("the error has the token: %v", err)
		}
	}
	if _, err := ReadToken(path + "x"); err == nil {
		t.Error("no file, no error")
	}
}
