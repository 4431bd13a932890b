package programhost

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3"

	"mara/runner/internal/testing/scripttest"
)

// fake returns a host that a script plays.
func fake(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	scripttest.Write(t, path, body)
	return path
}

var hello = `echo '{"protocol":1,"pulumi":"` + sdk.Version.String() + `","port":4242}'` + "\n"

func TestFind(t *testing.T) {
	dir := t.TempDir()
	beside, onPath := filepath.Join(dir, "bin", name), filepath.Join(dir, "path", name)
	for _, path := range []string{beside, onPath, filepath.Join(dir, "a directory", name, "x")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, want string
		dirs       []string
		path       string
	}{
		{"beside", beside, []string{filepath.Join(dir, "nowhere"), filepath.Dir(beside)}, filepath.Dir(onPath)},
		{"on PATH", onPath, []string{filepath.Join(dir, "a directory")}, filepath.Dir(onPath)},
		{"nowhere", "", nil, dir},
	} {
		t.Setenv("PATH", test.path)
		got, err := Find(test.dirs)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: got %q, %v", test.name, got, err)
		}
	}
}

// TestHost: it gets the root, serves, says how long programs took,
// and ends when it is closed.
func TestHost(t *testing.T) {
	t.Parallel()
	ran := make(chan time.Duration, 1)
	h, err := Start(Options{
		Path: fake(t, `[ "$*" = "--runner --root /root --provider kind" ] || exit 1`+"\n"+hello+
			`echo '{"project":"vpc","took":5000000}'; cat >/dev/null`),
		Root: "/root", Provider: "kind",
		Ran:   func(_ string, took time.Duration) { ran <- took },
		Ended: func(err error) { t.Errorf("it was closed, and is said to have ended: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PULUMI_DEBUG_LANGUAGES": "yaml:1"}
	if err := h.Attach(env); err != nil || env["PULUMI_DEBUG_LANGUAGES"] != "mara:4242,yaml:1" {
		t.Errorf("%v, %v", env, err)
	}
	if took := <-ran; took != 5*time.Millisecond {
		t.Errorf("took %s", took)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// TestBrokenHosts say what is wrong with them.
func TestBrokenHosts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, body, want string }{
		{"crashes", "exec >&-; sleep 0.1; echo 'panic: out of luck' >&2; exit 2", "does not serve: EOF (panic: out of luck)"},
		{"says something else", "echo hello; exec sleep 60", "does not serve: invalid character"},
		{"of another build", `echo '{"protocol":0,"pulumi":"3.1.0","port":1}'; exec sleep 60`, "is of another build (protocol 0, Pulumi 3.1.0;"},
	} {
		h, err := Start(Options{Path: fake(t, test.body)})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Attach(map[string]string{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
		if err := h.Close(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := Start(Options{Path: "/nowhere/host"}); err == nil {
		t.Error("a host was started that is not there")
	}
}

// TestHostThatEnds in the middle of a run is reported.
func TestHostThatEnds(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	h, err := Start(Options{Path: fake(t, hello+"echo 'fatal error: no luck' >&2; exit 2"), Ended: func(err error) { ended <- err }})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "during the run: exit status 2 (fatal error: no luck)") {
		t.Errorf("got %v", err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
