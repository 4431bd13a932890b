package preflight

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/runner/internal/testing/scripttest"
)

// onPath returns an environment with programs on its PATH, by name and script.
func onPath(t *testing.T, programs map[string]string) map[string]string {
	t.Helper()
	return map[string]string{"PATH": scripttest.Directory(t, programs)}
}

func stackFile(t *testing.T, text string) config.StackFile {
	t.Helper()
	file, err := config.ParseStack("Pulumi.dev.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestDocker(t *testing.T) {
	t.Parallel()
	noClient := Bad("there is no docker on PATH", "install Docker, and start it")
	const start = "start Docker, or set DOCKER_HOST to a daemon that runs"
	for _, test := range []struct {
		name     string
		programs map[string]string
		config   string
		want     []Finding
	}{
		{"no client", nil, "", noClient},
		{"a daemon", map[string]string{"docker": `[ "$*" = "version --format {{.Server.Version}}" ] && echo 27.0.1`}, "", Good("the daemon answers, version 27.0.1")},
		{"a client only", map[string]string{"docker": "echo 'Client: 27'; echo trying >&2; echo 'Cannot connect to the Docker daemon' >&2; exit 1"}, "",
			Bad("its daemon does not answer: Cannot connect to the Docker daemon", start)},
		{"a client that says nothing", map[string]string{"docker": "exit 3"}, "", Bad("its daemon does not answer: docker: exit status 3", start)},
		{"the configured host", map[string]string{"docker": `[ "$2" = tcp://there:1 ] && echo 1.0`}, "config:\n  docker:host: tcp://there:1", Good("the daemon answers, version 1.0")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check := docker(Facts{Env: onPath(t, test.programs), Config: stackFile(t, test.config)})
			if diff := cmp.Diff(test.want, check.Look(t.Context())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKubectl(t *testing.T) {
	t.Parallel()
	good := `[ "$*" = "version --client -o json" ] && echo '{"clientVersion":{"gitVersion":"v1.36.1"}}'`
	if got := kubectl(Facts{Env: onPath(t, map[string]string{"kubectl": good})}).Look(t.Context()); !cmp.Equal(got, Good("v1.36.1")) {
		t.Errorf("got %v", got)
	}
	for name, programs := range map[string]map[string]string{"none": nil, "broken": {"kubectl": "echo hello"}, "failing": {"kubectl": "exit 1"}} {
		if got := kubectl(Facts{Env: onPath(t, programs)}).Look(t.Context()); worst(got) != Problem || got[0].Remedy == "" {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestAWSCLI(t *testing.T) {
	t.Parallel()
	env := onPath(t, map[string]string{"aws": ""})
	if got := awsCLI(Facts{Env: env}).Look(t.Context()); !cmp.Equal(got, Good(filepath.Join(env["PATH"], "aws"))) {
		t.Errorf("got %v", got)
	}
	if got := awsCLI(Facts{Env: onPath(t, nil)}).Look(t.Context()); worst(got) != Problem {
		t.Errorf("got %v", got)
	}
}

// TestFindTool takes neither directories nor files that cannot be run, and nothing
// from the working directory.
func TestFindTool(t *testing.T) {
	t.Parallel()
	env := onPath(t, map[string]string{"good": ""})
	dir := env["PATH"]
	if err := os.Mkdir(filepath.Join(dir, "directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	env["PATH"] = "/nowhere" + string(filepath.ListSeparator) + string(filepath.ListSeparator) + dir
	for name, want := range map[string]bool{"good": true, "directory": false, "text": false, "tools_test.go": false} {
		if _, got := findTool(name, env); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestAskEnds with its time, also where the program has left one of its own
// behind that holds the pipes.
func TestAskEnds(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	slow, _ := findTool("slow", onPath(t, map[string]string{"slow": "/bin/sleep 600 & echo $! > " + file + "; /bin/sleep 600"}))
	ctx, cancel := context.WithCancel(t.Context())
	pids := make(chan int, 1)
	go func() {
		defer cancel()
		pids <- pidIn(file)
	}()
	if _, err := slow.ask(ctx); err == nil {
		t.Error("it answered")
	}
	if pid := <-pids; !gone(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Error("what the program had started goes on")
	}
}

// pidIn waits for the number of a process in a file.
func pidIn(file string) int {
	for {
		content, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(content))); err == nil && strings.HasSuffix(string(content), "\n") {
			return pid
		}
		time.Sleep(time.Millisecond)
	}
}

// gone says whether a process has ended, if only a moment after it was killed.
func gone(pid int) bool {
	for range 100 {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}
