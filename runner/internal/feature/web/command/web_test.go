package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/feature/web/access"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// output is a buffer that a command writes while a test reads.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// TestWeb serves the pages of a root, lets one browser in, and ends when it is interrupted, with a page still open.
func TestWeb(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n", "Pulumi.prod.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	d, _, stderr := cmdtest.Deps(t)
	stdout := &output{}
	d.Dir, d.Stdout, d.Now = root, stdout, time.Now
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- wire.Run(ctx, d, []string{"web", "--no-open", "-o", "json"}) }()
	var hello struct{ Address string }
	for deadline := time.Now().Add(20 * time.Second); hello.Address == "" && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		_ = json.Unmarshal([]byte(stdout.String()), &hello) // it may not be there yet
	}
	base, _, ok := strings.Cut(hello.Address, "?token=")
	if !ok || !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Fatalf("the address is %q; %s", stdout, stderr)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	get := func(address string) (*http.Response, string) {
		t.Helper()
		answer, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(body)
	}
	if answer, _ := get(base); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", answer.Status)
	}
	get(hello.Address)
	answer, body := get(base)
	if answer.StatusCode != http.StatusOK || !strings.Contains(body, "2 environments") || !strings.Contains(body, `href="/e/dev"`) {
		t.Errorf("%s:\n%s", answer.Status, body)
	}
	if again, _ := (&http.Client{}).Get(hello.Address); again == nil || again.StatusCode != http.StatusUnauthorized {
		t.Errorf("the token works twice: %v", again)
	}
	live, err := browser.Get(base + "live?page=/")
	if err != nil {
		t.Fatal(err)
	}
	defer live.Body.Close()
	first := make([]byte, 20)
	if _, err := io.ReadFull(live.Body, first); err != nil || !strings.HasPrefix(string(first), "retry: 2000\nevent: h") {
		t.Errorf("the stream begins %q, %v", first, err)
	}
	cancel()
	select {
	case got := <-code:
		if got != cmd.ExitInterrupted {
			t.Errorf("exit code %d: %s", got, stderr)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("an open page keeps it from ending")
	}
	if text := stderr.String(); text != "" {
		t.Errorf("on stderr: %s", text)
	}
}

func TestWebRefuses(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	token := filepath.Join(t.TempDir(), "token")
	cmdtest.WriteFile(t, token, strings.Repeat("x", 30))
	taken, err := net.Listen("tcp", access.Usual)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for args, want := range map[string]string{
		"--listen localhost:0":                       "not an IP address with a port",
		"--listen 0.0.0.0:0":                         "--token-file has to name a file",
		"--listen 0.0.0.0:0 --token-file " + token:   "--allowed-host has to say",
		"--token-file " + token + "x":                "no such file",
		"--listen 192.0.2.1:1 --token-file " + token: "choose another port",
		"--listen " + taken.Addr().String():          "choose another port",
		"something":                                  "unexpected argument",
	} {
		d, _, stderr := cmdtest.Deps(t)
		d.Dir = root
		if code := wire.Run(t.Context(), d, append([]string{"web", "--no-open"}, strings.Fields(args)...)); code == 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, %s", args, code, stderr)
		}
	}
	if err := os.Chmod(token, 0o644); err != nil {
		t.Fatal(err)
	}
	d, _, stderr := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(t.Context(), d, []string{"web", "--token-file", token}); code != cmd.ExitUsage || !strings.Contains(stderr.String(), "chmod 600") {
		t.Errorf("a token that others can read: %d, %s", code, stderr)
	}
}
