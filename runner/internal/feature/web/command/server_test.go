//go:build unix

package command

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/testing/cmdtest"
)

// TestBrowserIsOpenedByAFile: arguments of processes can be read by others on the machine, so that the browser gets
// the address in a file which only the user can read, and which is gone when the command ends.
func TestBrowserIsOpenedByAFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	program := filepath.Join(dir, "bin", opener())
	cmdtest.WriteFile(t, program, "#!/bin/sh\n{ echo \"$@\"; ls -ld \"$1\" \"$(dirname \"$1\")\"; cat \"$1\"; } >"+dir+"/seen.new\nmv "+dir+"/seen.new "+dir+"/seen\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(program)+":"+os.Getenv("PATH"))
	const address = "http://127.0.0.1:1/?token=SECRET&x=<b>"
	forget, err := openBrowser(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	var seen []byte
	for deadline := time.Now().Add(10 * time.Second); seen == nil; time.Sleep(10 * time.Millisecond) {
		if seen, err = os.ReadFile(filepath.Join(dir, "seen")); err != nil && time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	arguments, rest, _ := strings.Cut(string(seen), "\n")
	if strings.Contains(arguments, "SECRET") || !strings.HasSuffix(arguments, "/open.html") {
		t.Errorf("the arguments are %q", arguments)
	}
	if !strings.Contains(rest, "-rw-------") || !strings.Contains(rest, "drwx------") {
		t.Errorf("others can read it:\n%s", rest)
	}
	if !strings.Contains(rest, `href="http://127.0.0.1:1/?token=SECRET&amp;x=&lt;b&gt;"`) {
		t.Errorf("the page is\n%s", rest)
	}
	forget()
	if left, err := filepath.Glob(filepath.Join(dir, "runner-web-*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestNoClientHoldsTheServer: a client that sends its request slowly, or one without an end, is left, and costs no
// memory to speak of.
func TestNoClientHoldsTheServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answer") }))
	server.ReadHeaderTimeout /= 20
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	if server.ReadTimeout == 0 || server.IdleTimeout == 0 {
		t.Error("a client may wait for good")
	}
	for name, test := range map[string]struct {
		request string
		want    string // how the answer begins
	}{
		"a whole request": {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK"},
		"half a header":   {"GET / HTTP/1.1\r\nHost: ", "HTTP/1.1 408"},
		"nothing":         {"", ""},
		"a huge header":   {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "HTTP/1.1 431"},
		"a huge address":  {"GET /" + strings.Repeat("x", 64<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 431"},
	} {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := connection.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprint(connection, test.request) // it may be closed before all is sent
		answer, err := io.ReadAll(connection)
		if os.IsTimeout(err) {
			t.Errorf("%s: the connection stays", name)
		}
		if test.want == "HTTP/1.1 408" && len(answer) == 0 {
			answer = []byte(test.want) // it may be closed without an answer
		}
		if !strings.HasPrefix(string(answer), test.want) || test.want == "" && len(answer) > 0 {
			t.Errorf("%s: %.200q, want %s", name, answer, test.want)
		}
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	}
}
