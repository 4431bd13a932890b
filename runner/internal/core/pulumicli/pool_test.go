package pulumicli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3"
	"go.uber.org/goleak"

	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/testing/scripttest"
)

// The test binary is its own mara-engine: started as a worker, it answers with
// what the tests ask for.
func TestMain(m *testing.M) {
	switch {
	case slices.Contains(os.Args, workerFlag):
		fakeWorker(sdk.Version.String())
		return
	case slices.Contains(os.Args, fakeWait):
		waitForInterrupt()
		return
	case slices.Contains(os.Args, fakeHang):
		hang()
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) // Pulumi's packages start theirs when they initialise
}

// fakeWait makes the test binary a command that waits for an interrupt. A shell
// could not: where the tests run in the background it inherits an ignored
// SIGINT, which it must not trap, while a Go program may.
const fakeWait = "--fake-wait"

// fakeHang makes it a command that ignores interrupts and never ends.
const fakeHang = "--fake-hang"

func hang() {
	signal.Ignore(syscall.SIGINT)
	fmt.Println("hanging")
	time.Sleep(time.Minute) // it is killed before
}

func waitForInterrupt() {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGINT)
	fmt.Println("waiting")
	<-interrupted
	fmt.Println("cancelled")
	os.Exit(255)
}

func fakeWorker(version string) {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGINT)
	encoder := json.NewEncoder(os.NewFile(wire.ReplyFD, "replies"))
	decoder := json.NewDecoder(os.NewFile(wire.RequestFD, "requests"))
	_ = encoder.Encode(wire.Hello{Protocol: wire.Version, Pulumi: version})
	var keys []string
	given := 0
	for {
		var request wire.Request
		if decoder.Decode(&request) != nil {
			return
		}
		code := 0
		if len(request.Keys) > 0 {
			keys = nil
			for _, key := range request.Keys {
				keys = append(keys, key.Salt+"="+string(key.Raw))
			}
			given++
		}
		args := slices.DeleteFunc(slices.Clone(request.Args), func(arg string) bool { return arg == "--non-interactive" })
		switch args[0] {
		case "echo":
			_ = encoder.Encode(wire.Reply{Stdout: []byte(strings.Join(args[1:], " "))})
			_ = encoder.Encode(wire.Reply{Stderr: []byte("noted")})
		case "fail":
			code, _ = strconv.Atoi(args[1])
		case "keys":
			_ = encoder.Encode(wire.Reply{Stdout: fmt.Appendf(nil, "%s, given %d", strings.Join(keys, " "), given)})
		case "pid":
			_ = encoder.Encode(wire.Reply{Stdout: []byte(strconv.Itoa(os.Getpid()))})
		case "args":
			_ = encoder.Encode(wire.Reply{Stdout: []byte(strings.Join(request.Args, " "))})
		case "env":
			for _, entry := range request.Env {
				if strings.HasPrefix(entry, args[1]+"=") {
					_ = encoder.Encode(wire.Reply{Stdout: []byte(entry)})
				}
			}
		case "stdin":
			_ = encoder.Encode(wire.Reply{Stdout: request.Stdin})
		case "wait":
			_ = encoder.Encode(wire.Reply{Stdout: []byte("waiting")})
			<-interrupted
			_ = encoder.Encode(wire.Reply{Stdout: []byte(" cancelled")})
			code = 255
		case "preview":
			if request.Preview == nil {
				_ = encoder.Encode(wire.Reply{Stdout: []byte("without foresight")})
				break
			}
			values := wire.Values(append([]byte("after "), request.Preview.Foreseen["a"]...))
			_ = encoder.Encode(wire.Reply{Exit: &code, Found: &wire.Found{Values: values, Reads: []string{"a"}}})
			continue
		case "crash":
			panic("worker crashed")
		case "hang", "stack":
			_ = encoder.Encode(wire.Reply{Stdout: []byte("hanging")})
			_ = decoder.Decode(&request) // until the test has ended
			return
		}
		_ = encoder.Encode(wire.Reply{Exit: &code})
	}
}

func newTestPool(t *testing.T) *Pool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pool := NewPool(self)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func run(t *testing.T, p *Pool, args ...string) (string, string, int, error) {
	t.Helper()
	return p.Run(t.Context(), t.TempDir(), nil, nil, nil, nil, args...)
}

func TestRunReturnsOutputAndExitCode(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	var streamed bytes.Buffer
	stdout, stderr, code, err := pool.Run(t.Context(), t.TempDir(), nil, []io.Writer{&streamed}, nil, nil, "echo", "a", "b")
	if stdout != "a b" || stderr != "noted" || code != 0 || err != nil {
		t.Errorf("Run = %q, %q, %d, %v", stdout, stderr, code, err)
	}
	if streamed.String() != "a b" {
		t.Errorf("streamed %q", streamed.String())
	}
	_, _, code, err = run(t, pool, "fail", "7")
	var exit *ExitError
	if code != 7 || !errors.As(err, &exit) || exit.Code != 7 {
		t.Errorf("failing command: %d, %v; want 7 and an ExitError", code, err)
	}
}

func TestRunPassesTheRequest(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	stdout, _, _, _ := pool.Run(t.Context(), t.TempDir(), nil, nil, nil, []string{"NAME=value"}, "env", "NAME")
	if stdout != "NAME=value" {
		t.Errorf("env = %q", stdout)
	}
	stdout, _, _, _ = pool.Run(t.Context(), t.TempDir(), strings.NewReader("input"), nil, nil, nil, "stdin")
	if stdout != "input" {
		t.Errorf("stdin = %q", stdout)
	}
	for _, test := range [][2]string{
		{"args x", "--non-interactive args x"},
		{"args --non-interactive x", "args --non-interactive x"},
		{"args -- --non-interactive", "--non-interactive args -- --non-interactive"},
	} {
		if stdout, _, _, _ = run(t, pool, strings.Fields(test[0])...); stdout != test[1] {
			t.Errorf("%s runs %q, want %q", test[0], stdout, test[1])
		}
	}
}

func TestWorkersAreReused(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	first, _, _, _ := run(t, pool, "pid")
	second, _, _, _ := run(t, pool, "pid")
	if first == "" || first != second || pool.Started() != 1 {
		t.Errorf("pids %s and %s of %d workers; want one worker", first, second, pool.Started())
	}
	if first == strconv.Itoa(os.Getpid()) {
		t.Error("the command ran in the test itself")
	}
}

func TestAsManyWorkersAsCommandsAtOnce(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	started := make(chan struct{}, 3)
	for range 3 {
		all.Go(func() {
			_, _, _, _ = pool.Run(ctx, t.TempDir(), nil, []io.Writer{notifier(started)}, nil, nil, "wait")
		})
	}
	for range 3 {
		<-started
	}
	cancel()
	all.Wait()
	if pool.Started() != 3 {
		t.Errorf("%d workers started, want 3", pool.Started())
	}
	for range 3 {
		if _, _, _, err := run(t, pool, "echo"); err != nil {
			t.Error(err)
		}
	}
	if pool.Started() != 3 {
		t.Errorf("%d workers started after the interruption, want still 3", pool.Started())
	}
}

// notifier signals the first write.
type notifier chan struct{}

func (n notifier) Write(p []byte) (int, error) {
	select {
	case n <- struct{}{}:
	default:
	}
	return len(p), nil
}

func TestCancelInterruptsOnceAndWaits(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{}, 1)
	go func() { <-started; cancel() }()
	stdout, _, code, err := pool.Run(ctx, t.TempDir(), nil, []io.Writer{notifier(started)}, nil, nil, "wait")
	if stdout != "waiting cancelled" || code != 255 || err == nil {
		t.Errorf("Run = %q, %d, %v; want the command's own end", stdout, code, err)
	}
	if _, _, _, err := pool.Run(ctx, t.TempDir(), nil, nil, nil, nil, "echo"); !errors.Is(err, context.Canceled) {
		t.Errorf("a command on a cancelled context: %v, want context.Canceled", err)
	}
}

func TestCrashFailsOneCommandOnly(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	_, _, _, err := run(t, pool, "crash")
	if err == nil || !strings.Contains(err.Error(), "worker crashed") || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("error = %v; want the reason without a stack trace", err)
	}
	if stdout, _, _, err := run(t, pool, "echo", "again"); stdout != "again" || err != nil {
		t.Errorf("the next command: %q, %v", stdout, err)
	}
	if pool.Started() != 2 {
		t.Errorf("%d workers started, want 2", pool.Started())
	}
}

func TestKillEndsWhatRuns(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	started := make(chan struct{}, 1)
	go func() { <-started; pool.Kill() }()
	_, _, _, err := pool.Run(t.Context(), t.TempDir(), nil, []io.Writer{notifier(started)}, nil, nil, "hang")
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("error = %v, want one that says killed", err)
	}
}

func TestCloseEndsWorkers(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	text, _, _, err := run(t, pool, "pid")
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(text)
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("worker %d after Close: %v, want no such process", pid, err)
	}
	if _, _, _, err := run(t, pool, "echo"); !errors.Is(err, ErrClosed) {
		t.Errorf("a command after Close: %v, want ErrClosed", err)
	}
}

func TestWorkersHaveTheirOwnProcessGroup(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	text, _, _, _ := run(t, pool, "pid")
	pid, _ := strconv.Atoi(text)
	group, err := syscall.Getpgid(pid)
	if err != nil || group != pid || group == syscall.Getpgrp() {
		t.Errorf("process group of worker %d is %d, %v", pid, group, err)
	}
}

func TestNoEngine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, path, want string }{
		{"missing", filepath.Join(t.TempDir(), "none"), "no such file"},
		{"not an engine", script(t, "echo hello"), "does not answer as an engine"},
		{"another build", script(t, `echo '{"protocol":0,"pulumi":"1.0.0"}' >&4; cat <&3`), "install runner and mara-engine together"},
	} {
		_, _, _, err := run(t, NewPool(test.path), "echo")
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.path) {
			t.Errorf("%s: error = %v; want %q and the path", test.name, err, test.want)
		}
	}
}

func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	scripttest.Write(t, path, body)
	return path
}

func TestInstalledVersionCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, body, want string }{
		{"new enough", "echo v3.250.0", ""},
		{"too old", "echo v3.100.0", "too old"},
		{"not pulumi", "echo usage: something", "does not answer as pulumi"},
		{"fails", "exit 3", "asking"},
	} {
		path := script(t, test.body)
		_, err := NewInstalled(t.Context(), path)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error = %v; want %q and the path", test.name, err, test.want)
		}
	}
	if _, err := NewInstalled(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "no pulumi at") {
		t.Errorf("missing: %v", err)
	}
}

func TestInstalledRun(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	installed, err := NewInstalled(t.Context(), script(t, `
case "$*" in
version) echo v3.250.0 ;;
*fail*) echo "error: broken" >&2; exit 4 ;;
*wait*) exec `+self+` `+fakeWait+` ;;
*hang*) trap '' INT; echo hanging; sleep 600 ;;
*) echo "$* $NAME" ;;
esac`))
	if err != nil {
		t.Fatal(err)
	}
	stdout, _, code, err := installed.Run(t.Context(), t.TempDir(), nil, nil, nil, []string{"NAME=value"}, "up")
	if stdout != "--non-interactive up value\n" || code != 0 || err != nil {
		t.Errorf("Run = %q, %d, %v", stdout, code, err)
	}
	_, stderr, code, err := installed.Run(t.Context(), t.TempDir(), nil, nil, nil, nil, "fail")
	if stderr != "error: broken\n" || code != 4 || err == nil {
		t.Errorf("failing Run = %q, %d, %v", stderr, code, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{}, 1)
	go func() { <-started; cancel() }()
	stdout, _, code, _ = installed.Run(ctx, t.TempDir(), nil, []io.Writer{notifier(started)}, nil, nil, "wait")
	if stdout != "waiting\ncancelled\n" || code != 255 {
		t.Errorf("cancelled Run = %q, %d", stdout, code)
	}
	started = make(chan struct{}, 1)
	go func() { <-started; installed.Kill() }()
	begin := time.Now()
	_, _, _, err = installed.Run(t.Context(), t.TempDir(), nil, []io.Writer{notifier(started)}, nil, nil, "hang")
	if err == nil || time.Since(begin) > time.Minute {
		t.Errorf("killed Run: %v after %v", err, time.Since(begin))
	}
}

func TestExitErrorText(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprint(&ExitError{Code: 3}); got != "exit status 3" {
		t.Errorf("%q", got)
	}
	var _ *exec.ExitError // the error of a process that was killed is this one, not ours
}

// TestWorkersRetire: what a worker keeps in memory goes with it after some
// commands; whoever waits gets another.
func TestWorkersRetire(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	pool.most = 3
	var pids []string
	for range 7 {
		pid, _, _, err := run(t, pool, "pid")
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if first, second := pids[0], pids[3]; first == second || pids[2] != first || pids[5] != second || pids[6] == second || pool.Started() != 3 {
		t.Errorf("workers %v", pids)
	}

	pool = newTestPool(t)
	pool.most, pool.patience = 1, time.Hour // no command starts a second worker
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, _, _, err := run(t, pool, "pid"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestDatabaseConnections: commands on a backend in PostgreSQL wait for one another, so that the runner does not take all
// connections of a server; its own objects and other backends do not wait.
func TestDatabaseConnections(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	env := []string{"PULUMI_BACKEND_URL=postgres://server/states", ConnectionsVariable + "=6"} // six leave one command two of them
	first, cancel := context.WithCancel(t.Context())
	var streamed signalling = make(chan struct{}, 1)
	ended := make(chan error, 1)
	go func() {
		_, _, _, err := pool.Run(first, t.TempDir(), nil, []io.Writer{streamed}, nil, env, "wait")
		ended <- err
	}()
	<-streamed
	short, done := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer done()
	if _, _, _, err := pool.Run(short, t.TempDir(), nil, nil, nil, env, "echo"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second command: %v", err)
	}
	for _, other := range [][]string{{"echo", "objects"}, {"args"}} {
		variables := env
		if other[0] == "args" {
			variables = []string{"PULUMI_BACKEND_URL=s3://bucket"}
		}
		if _, _, _, err := pool.Run(t.Context(), t.TempDir(), nil, nil, nil, variables, other...); err != nil {
			t.Errorf("%v: %v", other, err)
		}
	}
	cancel()
	<-ended
	if stdout, _, _, err := pool.Run(t.Context(), t.TempDir(), nil, nil, nil, env, "echo", "now"); err != nil || stdout != "now" {
		t.Errorf("after the first: %q, %v", stdout, err)
	}
}

// signalling is a writer that signals the first text.
type signalling chan struct{}

func (s signalling) Write(p []byte) (int, error) {
	select {
	case s <- struct{}{}:
	default:
	}
	return len(p), nil
}
