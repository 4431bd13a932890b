package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/secrets/passphrase"
	"github.com/pulumi/pulumi/sdk/v3"

	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/mara-engine/journal"
)

// crashFlag makes the test binary a worker that crashes in the middle of a
// command.
const crashFlag = "--crash"

// TestMain lets the test binary be what it tests: started as a worker, it is
// one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerFlag {
		journal.FreeTime, journal.FirstPause = journal.FreeTime/10, journal.FirstPause/20
		main()
		return
	}
	if len(os.Args) == 2 && os.Args[1] == crashFlag {
		crash()
	}
	flag.Parse()
	if !slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.parallel") }) {
		_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))) // most tests wait: for processes, disks and buckets
	}
	os.Exit(m.Run())
}

func crash() {
	keepCrashOutput()
	if _, err := capture(&replyWriter{encoder: json.NewEncoder(new(bytes.Buffer))}); err != nil {
		panic(err)
	}
	panic("out of luck")
}

// worker is a worker as the runner sees it.
type worker struct {
	t        *testing.T
	process  *exec.Cmd
	requests *os.File
	encoder  *json.Encoder
	replies  *json.Decoder
	hello    wire.Hello
	stderr   *bytes.Buffer
	wait     func() error
	patience *time.Timer
}

// patience bounds what a test waits for: the start of a worker, or a command and its end.
const patience = 5 * time.Minute

func startWorker(t *testing.T) *worker {
	t.Helper()
	return startWorkerAs(t, func(start func() error) error { return start() })
}

// startWorkerAs has something start a worker.
func startWorkerAs(t *testing.T, as func(start func() error) error) *worker {
	t.Helper()
	requestRead, requestWrite := pipe(t)
	replyRead, replyWrite := pipe(t)
	w := &worker{
		t: t, process: exec.Command(self(t), workerFlag), stderr: &bytes.Buffer{},
		requests: requestWrite, encoder: json.NewEncoder(requestWrite), replies: json.NewDecoder(replyRead),
	}
	w.process.ExtraFiles = []*os.File{requestRead, replyWrite}
	w.process.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TERM=dumb"}
	w.process.Stderr = w.stderr
	w.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := as(w.process.Start); err != nil {
		t.Fatal(err)
	}
	requestRead.Close()
	replyWrite.Close()
	w.wait = sync.OnceValue(w.process.Wait)
	// Whatever hangs ends, and fails its test.
	w.patience = time.AfterFunc(patience, func() { _ = w.process.Process.Kill() })
	t.Cleanup(func() {
		w.patience.Stop()
		requestWrite.Close()
		_ = w.wait()
	})
	if err := w.replies.Decode(&w.hello); err != nil {
		t.Fatalf("no hello: %v", err)
	}
	w.patience.Stop()
	return w
}

// self returns the path of the test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	return read, write
}

// send sends a request without waiting for its replies.
func (w *worker) send(request wire.Request) {
	w.t.Helper()
	w.patience.Reset(patience)
	if request.Dir == "" {
		request.Dir = w.t.TempDir()
	}
	request.Args = append([]string{"--non-interactive"}, request.Args...)
	if err := w.encoder.Encode(request); err != nil {
		w.t.Fatal(err)
	}
}

// result is what came of a request.
type result struct {
	stdout, stderr string
	code           int
}

// receive reads replies up to the exit code. Each piece of output goes to seen.
func (w *worker) receive(seen func(wire.Reply)) result {
	w.t.Helper()
	var r result
	for {
		var reply wire.Reply
		if err := w.replies.Decode(&reply); err != nil {
			_ = w.wait() // its last words are complete then
			w.t.Fatalf("the worker ended: %v; %s%s%s", err, r.stdout, r.stderr, w.stderr)
		}
		r.stdout += string(reply.Stdout)
		r.stderr += string(reply.Stderr)
		if reply.Exit != nil {
			w.patience.Stop() // a worker that waits for a command is idle
			r.code = *reply.Exit
			return r
		}
		if seen != nil {
			seen(reply)
		}
	}
}

func (w *worker) do(request wire.Request) result {
	w.t.Helper()
	w.send(request)
	return w.receive(nil)
}

func TestHello(t *testing.T) {
	t.Parallel()
	w := startWorker(t)
	if want := (wire.Hello{Protocol: wire.Version, Pulumi: sdk.Version.String()}); w.hello != want {
		t.Errorf("got %+v, want %+v", w.hello, want)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	w := startWorker(t)
	for _, test := range []struct {
		name           string
		request        wire.Request
		code           int
		stdout, stderr string // contained
	}{
		{"output", wire.Request{Args: []string{"version"}}, 0, sdk.Version.String() + "\n", ""},
		{"long output", wire.Request{Args: []string{"up", "--help"}}, 0, "--skip-preview", ""},
		{"unknown command", wire.Request{Args: []string{"frobnicate"}}, 1, "", `error: unknown command "frobnicate"`},
		{"unknown flag", wire.Request{Args: []string{"stack", "ls", "--frobnicate"}}, 1, "", "error: unknown flag: --frobnicate"},
		{"no project", wire.Request{Args: []string{"preview"}}, 1, "", "error: "},
		{"missing directory", wire.Request{Dir: "/nowhere/at/all", Args: []string{"version"}}, 1, "", "error: chdir /nowhere/at/all"},
		{"output after all that", wire.Request{Args: []string{"version"}}, 0, sdk.Version.String() + "\n", ""},
	} {
		got := w.do(test.request)
		if got.code != test.code || !strings.Contains(got.stdout, test.stdout) || !strings.Contains(got.stderr, test.stderr) {
			t.Errorf("%s: got %+v", test.name, got)
		}
		if test.stdout == "" && got.stdout != "" || test.stderr == "" && got.stderr != "" {
			t.Errorf("%s: too much was said: %+v", test.name, got)
		}
	}
}

// TestRequestsKnowNothingOfEachOther: environment, directory and flags are those
// of the request alone.
func TestRequestsKnowNothingOfEachOther(t *testing.T) {
	t.Parallel()
	w := startWorker(t)
	backend := func(r result) string {
		t.Helper()
		var who struct {
			URL string `json:"url"`
		}
		if err := json.Unmarshal([]byte(r.stdout), &who); err != nil {
			t.Errorf("%v: %+v", err, r)
		}
		return who.URL
	}
	ask := func(env ...string) result {
		return w.do(wire.Request{Args: []string{"whoami", "--json", "--verbose"}, Env: append(env, "HOME="+t.TempDir())})
	}
	for _, directory := range []string{t.TempDir(), t.TempDir()} {
		if got := backend(ask("PULUMI_BACKEND_URL=file://" + directory)); got != "file://"+directory {
			t.Errorf("the backend is %q, want %q", got, directory)
		}
	}
	if got := ask(); got.code == 0 {
		t.Errorf("a backend of an earlier request is used: %+v", got)
	}
	if got := w.do(wire.Request{Args: []string{"version", "-C", t.TempDir()}, Dir: t.TempDir()}); got.code != 0 {
		t.Errorf("got %+v", got)
	}
	if got := ask("PULUMI_BACKEND_URL=file://./state"); got.code == 0 || !strings.Contains(got.stderr, "state") {
		t.Errorf("a relative backend is found in the directory of an earlier request: %+v", got)
	}
}

// project is a stack on a file backend.
type project struct{ dir, state, home string }

func newProject(t *testing.T, w *worker) project {
	t.Helper()
	p := project{dir: t.TempDir(), state: t.TempDir(), home: t.TempDir()}
	if err := os.WriteFile(filepath.Join(p.dir, "Pulumi.yaml"), []byte("name: p\nruntime: go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.do(p.request("stack", "init", "organization/p/dev")); r.code != 0 {
		t.Fatalf("stack init: %+v", r)
	}
	return p
}

func (p project) request(args ...string) wire.Request {
	return wire.Request{Dir: p.dir, Args: args, Env: []string{
		"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "PULUMI_BACKEND_URL=file://" + p.state, "PULUMI_CONFIG_PASSPHRASE=x",
	}}
}

func (p project) locks(t *testing.T) []string {
	t.Helper()
	locks, err := filepath.Glob(filepath.Join(p.state, ".pulumi/locks/organization/p/dev/*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return locks
}

func TestStdin(t *testing.T) {
	t.Parallel()
	w := startWorker(t)
	p := newProject(t, w)
	set := p.request("config", "set", "key", "--stack", "dev", "--plaintext")
	set.Stdin = []byte("from stdin " + strings.Repeat("long ", 30_000) + "end")
	if got := w.do(set); got.code != 0 {
		t.Fatalf("got %+v", got)
	}
	if got := w.do(p.request("config", "get", "key", "--stack", "dev")); strings.TrimSpace(got.stdout) != string(set.Stdin) {
		t.Errorf("%d bytes came back of %d: %.100s", len(got.stdout), len(set.Stdin), got.stdout+got.stderr)
	}
	if got := w.do(p.request("config", "set", "key", "--stack", "dev", "--plaintext")); strings.Contains(got.stdout, "long") {
		t.Errorf("stdin of an earlier request is read: %+v", got)
	}
}

func TestInterruptOfAnIdleWorker(t *testing.T) {
	t.Parallel()
	w := startWorker(t)
	for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGINT} {
		if err := w.process.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.do(wire.Request{Args: []string{"version"}}); got.code != 0 {
		t.Errorf("after interrupts: %+v", got)
	}
}

func TestWorkerEndsWithItsRunner(t *testing.T) {
	t.Parallel()
	w := startWorker(t)
	w.requests.Close()
	if err := w.wait(); err != nil {
		t.Errorf("an idle worker ended with %v; %s", err, w.stderr)
	}
}

// TestInterrupts: an operation is cancelled whenever the interrupt comes, also
// before Pulumi itself listens.
func TestInterrupts(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"while Pulumi gets ready", "while the program runs"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			w := startWorker(t)
			p := newProject(t, w)
			program := startProgram(t)
			interrupt := sync.OnceFunc(func() { _ = w.process.Process.Signal(syscall.SIGINT) })
			w.send(p.request(program.up()...))
			if when == "while the program runs" {
				go func() {
					<-program.started
					interrupt()
				}()
			}
			got := w.receive(func(wire.Reply) {
				if when == "while Pulumi gets ready" { // it begins with a headline
					interrupt()
				}
			})
			if got.code == 0 || !strings.Contains(got.stdout+got.stderr, "cancel") {
				t.Errorf("got %+v", got)
			}
			if locks := p.locks(t); len(locks) > 0 {
				t.Errorf("locks are left: %v", locks)
			}
			program = startProgram(t)
			close(program.release)
			if again := w.do(p.request(program.up()...)); again.code != 0 {
				t.Errorf("the next operation: %+v", again)
			}
		})
	}
}

// TestRunnerIsGone in the middle of an operation: the worker cancels it, leaves
// no lock, and ends.
func TestRunnerIsGone(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"while Pulumi gets ready", "while the program runs"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			w := startWorker(t)
			p := newProject(t, w)
			program := startProgram(t)
			w.send(p.request(program.up()...))
			if when == "while the program runs" {
				<-program.started
			}
			w.requests.Close()
			if err := w.wait(); err != nil {
				t.Errorf("the worker ended with %v; %s", err, w.stderr)
			}
			if locks := p.locks(t); len(locks) > 0 {
				t.Errorf("locks are left: %v", locks)
			}
		})
	}
}

// TestCrashOutput: the trace of a crash goes where the runner looks for it, not
// to the command's output.
func TestCrashOutput(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	process := exec.Command(self(t), crashFlag)
	process.Stderr = &stderr
	err := process.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(stderr.String(), "panic: out of luck") {
		t.Errorf("got %v, %q", err, stderr.String())
	}
}

// TestKeys: a command uses the keys that the runner has derived, which equal Pulumi's. It
// could not work without them, since its passphrase is another one. The keys of the previous
// command are gone.
func TestKeys(t *testing.T) {
	t.Parallel()
	w := startWorker(t)
	p := newProject(t, w)
	if r := w.do(p.request("stack", "init", "organization/p/prod")); r.code != 0 {
		t.Fatalf("stack init: %+v", r)
	}
	var keys []wire.Key
	for _, stack := range []string{"dev", "prod"} {
		salt, manager, err := passphrase.NewPassphraseSecretsManager("right " + stack)
		if err != nil {
			t.Fatal(err)
		}
		ciphertext, err := manager.Encrypter().EncryptValue(t.Context(), "hunter2 of "+stack)
		if err != nil {
			t.Fatal(err)
		}
		key, err := encryption.OpenKey("right "+stack, salt)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, wire.Key{Salt: salt, Raw: key.Raw()})
		content := "encryptionsalt: " + salt + "\nconfig:\n  p:secret:\n    secure: " + ciphertext + "\n"
		if err := os.WriteFile(filepath.Join(p.dir, "Pulumi."+stack+".yaml"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		stack  string
		keys   []wire.Key
		stdout string
	}{
		{"dev", nil, ""},
		{"dev", keys[:1], "hunter2 of dev\n"},
		{"dev", nil, "hunter2 of dev\n"},
		{"prod", nil, ""},
		{"prod", keys, "hunter2 of prod\n"},
		{"dev", nil, "hunter2 of dev\n"},
		{"prod", keys[1:], "hunter2 of prod\n"},
		{"dev", nil, ""},
	} {
		request := p.request("config", "get", "secret", "--stack", test.stack)
		request.Keys = test.keys
		got := w.do(request)
		if got.stdout != test.stdout || (got.code == 0) != (test.stdout != "") || test.stdout == "" && !strings.Contains(got.stderr, "incorrect passphrase") {
			t.Errorf("%s with %d keys: got %+v, want %q", test.stack, len(test.keys), got, test.stdout)
		}
	}
}

// TestPluginsBelowHome: plugins are found below $HOME, whatever the database of users says.
func TestPluginsBelowHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	plugin := filepath.Join(home, ".pulumi", "plugins", "resource-pretend-v1.2.3")
	if err := os.MkdirAll(plugin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(plugin, "pulumi-resource-pretend"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := startWorker(t)
	r := w.do(wire.Request{Dir: t.TempDir(), Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, Args: []string{"plugin", "ls"}})
	if r.code != 0 || !strings.Contains(r.stdout, "pretend") {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}
